/** The words of bulk operations in English. */
import { grouped } from '../../../text/numbers.ts';

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  counting: (count: number) => (count ? `Counting: ${s(count, 'device')} …` : 'Counting …'),
  count: 'Devices',
  what: 'What happens',
  changed: 'will be changed',
  skipped: 'skipped: the state does not allow it',
  preview: {
    LOCK: (count: number) => `${s(count, 'device')} will be locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} will be unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'device')} will get a new code. Earlier codes become invalid.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} will be retired.`,
  },
  start: {
    LOCK: (count: number) => `Lock ${s(count, 'device')}`,
    UNLOCK: (count: number) => `Unlock ${s(count, 'device')}`,
    GENERATE_CODE: (count: number) => `Replace ${s(count, 'code')}`,
    DEACTIVATE: (count: number) => `Retire ${s(count, 'device')}`,
  },
  done: {
    LOCK: (count: number) => `${s(count, 'device')} locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'code')} replaced.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} retired.`,
  },
  final: 'A retired device can never be used again.',
  typeCount: (count: number) => `Type the number of devices, ${count}`,
  progress: (done: number, total: number) => `${grouped(done)} of ${s(total, 'device')}`,
  stop: 'Stop after this batch',
  stopping: 'Stopping …',
  failed: (count: number) => `${grouped(count)} failed.`,
  left: (count: number) => `${s(count, 'device')} not tried.`,
  failedTitle: 'Failed devices',
  why: 'Why',
  more: (count: number) => `${grouped(count)} more in the file.`,
  download: 'Download results (CSV)',
  code: 'Activation code',
  codes: 'New codes',
  showCodes: 'Show codes',
  hideCodes: 'Hide codes',
  downloadCodes: 'Download codes (CSV)',
};

/** What bulk operations have as words, in each language. */
export type BulkWords = typeof en;
