import type { Row } from './report.ts';

/** The arguments of a group of rows. */
export interface Bench {
  /** For what a group writes; removed at the end. */
  readonly scratch: string;
  /** Shows a person how far it is. */
  readonly tell: (text: string) => void;
  /** A home with this many devices. Do not write to it; write to a `copyOf`. */
  home(devices: number): Promise<string>;
  /** Size of the large registry. */
  readonly devices: number;
  readonly repetitions: number;
  /** Length of each load. */
  readonly seconds: number;
}

/** Devices of the small registry that the large one is compared with. */
export const few = 1000;

export type Group = (bench: Bench) => AsyncGenerator<Row>;
