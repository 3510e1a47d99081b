// The parts of Preact and htm that the client uses.
export {
  html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useReducer,
} from '../vendor/htm-preact-standalone-3.1.1.js';
