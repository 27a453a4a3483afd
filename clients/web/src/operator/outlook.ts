/** What the shuffler tells of a collection to whoever has the token; ``reports`` are rounded down in steps. */
export interface Outlook {
  state: "open" | "not open yet" | "expired" | "closed";
  reports: number;
  step: number;
  /** The least number of reports that keeps the promise, and the most that are taken. */
  promise: number;
  most: number;
  /** What is certified if all of these reports are honest, and what was promised. */
  epsilon: number | null;
  promised: number | null;
  delta: number;
  /** The standard error to expect, of a count or of the mean. */
  stderr: number | null;
  may_close: boolean;
  why: string | null;
}
