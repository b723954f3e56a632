/** The size of a plot's drawing and where its axes are, in pixels of the drawing. */
export const WIDTH = 340;
export const HEIGHT = 226;
export const LEFT = 46;
export const RIGHT = 332;
export const TOP = 8;
export const BOTTOM = 190;
