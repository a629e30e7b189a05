/** The messages of a run of `register --file` while it works, when it ends, and when it fails. */
import { statSync } from 'node:fs';
import { type Position, positionText } from '../../../../enrollment/import/text.ts';
import { count, counted } from '../../../count.ts';
import { Fault } from '../../../fault.ts';
import { duration, spent } from '../../../terminal/when.ts';
import type { Checkpoint } from './checkpoint.ts';

type RunReportCounts = Pick<Checkpoint, 'success' | 'registered' | 'failed'>;

const devices = (amount: number): string => counted(amount, 'device');

/** `3 registered and 1 failed`, with the devices that were registered before if there are any. */
export function registeredWords({ success, registered, failed }: RunReportCounts, last = ', '): string {
  const existing = registered > 0 ? `, ${count(registered)} already registered` : '';
  return `${count(success)} registered${existing}${last}${count(failed)} failed`;
}

/** How far a run has got. */
interface RunReportProgress {
  readonly file: string;
  /** Rows that have results, those of earlier runs included. */
  readonly rows: number;
  /** Results of this run. */
  readonly lines: number;
  readonly seconds: number;
  /** Bytes of the input that are consumed. */
  readonly taken: number;
  /** Those of them that an earlier run has done. */
  readonly skipped: number;
}

/** The line that shows progress. Percent and time left need the size of the input, which a pipe does not have. */
export function progressOf({ file, rows, lines, seconds, taken, skipped }: RunReportProgress): string {
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  const size = stats?.isFile() ? stats.size : 0;
  const rate = `${count(Math.round(lines / Math.max(seconds, 0.001)))} lines/s`;
  const left = stats?.isFile() && taken > skipped ? (seconds * Math.max(0, size - taken)) / (taken - skipped) : null;
  const percent = size > 0 ? `${Math.floor((100 * Math.min(taken, size)) / size)}%  ` : '';
  const end = left === null ? '' : `  ${duration(left)} left`;
  return `Registering  ${percent}${count(rows)} lines  ${rate}${end}`;
}

/** Where the results are. Rows after `unwritten` have none in the file; null if all have one. */
export function resultsNote(out: string | undefined, unwritten: Position | null): string {
  if (out === undefined) return '';
  if (unwritten === null) return `; results are in ${out}`;
  if (unwritten.line === 0) return `; ${out} has no results of them`;
  return `; ${out} has the results up to ${positionText(unwritten)}`;
}

/** What a run has done when it stops; null if nothing. `isUncertain`: a batch was sent and got no response. */
export function doneWords(state: Checkpoint, isUncertain: boolean, note: string): string | null {
  if (state.rows > 0) return `${registeredWords(state, ' and ')} up to ${positionText(state.last)}${note}`;
  return isUncertain ? 'the devices that were sent may have been registered' : null;
}

/** A run that read its whole input. */
interface RunReportEnded {
  /** No row was left to do. */
  readonly isNothing: boolean;
  /** All rows that failed are already registered. */
  readonly areDuplicates: boolean;
  readonly seconds: number;
  readonly note: string;
}

/** The last line of a run. Throws a fault of kind `partial` if rows failed. */
export function endOf({ success, registered, failed }: RunReportCounts, ended: RunReportEnded): string {
  const { isNothing, areDuplicates, seconds, note } = ended;
  const existing = registered > 0 ? `, ${count(registered)} already registered` : '';
  const all = success + registered + failed;
  if (failed > 0)
    throw new Fault(
      'partial',
      `${isNothing ? 'nothing to do: ' : ''}${count(failed)} of ${count(all)} lines failed, ${devices(success)} ${success === 1 ? 'is' : 'are'} registered${existing}${note}`,
      areDuplicates
        ? 'nothing to fix: those serial numbers are already registered; --skip-existing counts them as done'
        : 'each result has a line number and a reason; fix those lines and register them again',
    );
  if (isNothing) return `Nothing to do: all ${count(all)} lines are done${note}.`;
  return `${devices(success)} registered${existing}${spent(seconds)}${note}.`;
}
