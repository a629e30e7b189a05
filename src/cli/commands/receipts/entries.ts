import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about receipts, in the order of the help. */
export const receiptEntries: readonly Entry[] = [
  entry('receipt make', 'have a key sign a hand-over, loan or return', async () => (await import('./make.ts')).make),
  entry('receipt verify', 'verify a signed receipt offline', async () => (await import('./verify.ts')).verify),
  entry('receipt print', 'write a receipt as PDF or JSON', async () => (await import('./print.ts')).print),
  entry('receipt list', 'list receipts and overdue loans', async () => (await import('./list.ts')).list, 'receipt ls'),
];
