/** The part of lean-qr that the client uses, as types. */
export interface Bitmap2D { readonly size: number; get(x: number, y: number): boolean }
export function generate(text: string): Bitmap2D;
