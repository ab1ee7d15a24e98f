// Types that the scripts name in their JSDoc. The type checker reads this file (`make js`); no page does.

type Language = "en" | "ko";
type Point = [x: number, y: number];
type Box = { x: number; y: number; width: number; height: number };
/** A grid in a box; `upward`: row 0 is the lowest. */
type Cells = Box & { rows: number; columns: number; upward?: boolean };
type Axis = { low: number; high: number; ticks: [value: number, text: string][]; label: string; log?: boolean };
type Scale = (value: number) => number;
/** How a category looks; without a dash it is a dot. */
type Look = { style: string; dash?: number[]; marker?: string };
/** Colours of the theme. */
type Ink = { text: string; muted: string; line: string; paper: string; first: string; second: string; series: string[] };

/** An array as packing.py packs it, and as the scripts read it. */
type Packed = { data: string | DataView; shape: number[]; low: number; step: number; bytes: 1 | 2 | 4; undefined?: number };
type Unpacked = { shape: number[]; at(index: number): number; get(...place: number[]): number };

/** What a widget's model and a page without a kernel both offer. */
type Model = {
  get(key: string): any;
  set(key: string, value: any): void;
  on(name: string, handler: (message?: any) => void): void;
  off(name: string, handler: (message?: any) => void): void;
  save_changes(): void;
  send?(message: any): void; // to a live kernel
};

/** What an explorer sees: see the top of common.js. */
type View = {
  t: Record<string, any>;
  lang: Language;
  ink: Ink;
  hover: any;
  get(key: string): any;
  set(values: Record<string, any>): void;
  part(name: string): any;
  say(text: Record<Language, string>): string;
  redraw(): void;
};

type Picking = {
  at(x: number, y: number, width: number, height: number): void;
  move(right: number, up: number): void;
  value(): { now: number; max: number; text: string };
  hover?(place: Box | null): void;
};
type Panel = {
  label: string;
  wide?: boolean;
  height(width: number): number;
  draw(g: CanvasRenderingContext2D, width: number, height: number): void;
  pick?: Picking;
  when?(): boolean;
};
type Shown = { panel: Panel; canvas: HTMLCanvasElement; announce(): void };
type Table = { head: string[]; rows: string[][]; current?: number };
type Drawing = {
  panels: Panel[];
  caption(): string;
  table(): Table;
  parts?(): string[];
  update?(): void;
  stop?(): void;
};

type Listed<T> = T[] | (() => T[]);
type Option = [value: any, text: string];
type Input = { element: HTMLElement; update(): void; below?: boolean };
/** A key of the state: see the top of controls.js. */
type Control = {
  key: string;
  accept(text: string): any;
  fit?(value: any): any;
  build?(view: View, id: string): Input;
};
type Definition = {
  name: string;
  strings: Record<Language, Record<string, any>>;
  controls(t: Record<string, any>, view: View): Control[];
  setup(view: View): Drawing;
  columns?: string;
  narrowColumns?: string;
  captionAfter?: number;
  presets?(t: Record<string, any>, view: View): Preset[];
};
/** A button that shows something worth seeing, which it looks for in the data. */
type Preset = { label: string; find(): Record<string, any>; when?(): boolean };

// What other scripts of a page bring.
declare var explorerParts: Record<string, any> | undefined; // parts that were loaded, by address
declare var MathJax: { startup?: { promise: Promise<void> } } | undefined;
declare const messages: Record<string, Record<string, string>>; // sphinx-copybutton
declare let locale: string, iconCopy: string, iconCheck: string;
declare const DOCUMENTATION_OPTIONS: { SHOW_SEARCH_SUMMARY: boolean }; // Sphinx
