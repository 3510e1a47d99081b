// What every module of the client uses of Preact and htm.
export {
  html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useReducer,
} from '../vendor/htm-preact-standalone-3.1.1.js';
