import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { count, counted } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { interrupted } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { fileFlag } from '../../../framework/flags.ts';
import { errorAfter } from '../../../jobs/send.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { showRow } from '../enroll/report.ts';
import { EnrollFile, type FileOptions } from '../enroll/results.ts';
import { type KeyLabel, keyLabelOf } from '../labels/enrolled.ts';
import { keyLabelFlags } from '../labels/flags.ts';
import { SpoolDelivery } from './deliver.ts';
import { checkRegistry, demandRegistry, meetRegistry } from './registry.ts';
import { SpoolFile } from './spool-file.ts';

/** Delivers the keys of a spool file. Exit code 7 if some were conflicts or failed. */
export const spoolFlush = command({
  description:
    'Registers the keys that enroll --spool could not register, in the order in which they were plugged in, and activates those that were enrolled for a user. Each key is registered once, even if an earlier attempt was interrupted. A key that is already registered is a conflict, unless it is INACTIVE and was enrolled for a user: then it is activated. Exit code 7 means that some keys were conflicts or failed; enroll spool list shows them. The file is kept; another flush changes nothing.',
  args: [{ name: 'FILE', help: 'the file that enroll --spool has written', offer: 'file' }],
  flags: {
    out: fileFlag('append the results to this file, which can be that of enroll --out'),
    ...keyLabelFlags,
  },
  examples: {
    'with the codes in a file': 'enroll spool flush keys.spool --out codes.csv',
    'with a label for each key': 'enroll spool flush keys.spool --label --printer 10.0.0.9',
    'for a script': 'enroll spool flush keys.spool --json',
  },
  async run({ args, flags }, context) {
    const label = flags.label ? keyLabelOf(context, flags) : null;
    const spool = SpoolFile.open(args[0]!, null);
    let file: EnrollFile | null = null;
    try {
      file = flags.out === undefined ? null : EnrollFile.open(context, flags.out, optionsOf(spool));
      return await new Flush(context, spool, file).run(label);
    } finally {
      file?.close();
      await spool.close();
    }
  },
});

/** The columns of the results are those that the waiting keys need. */
function optionsOf(spool: SpoolFile): FileOptions {
  const tags: Record<string, string> = {};
  let isRoster = false;
  for (const { entry } of spool.items()) {
    const { registration, name } = entry;
    Object.assign(tags, registration.tags);
    isRoster ||= name !== undefined;
  }
  return { proof: null, tags, isRoster, isSpooled: true };
}

class Flush {
  readonly #context: Context;
  readonly #spool: SpoolFile;
  readonly #file: EnrollFile | null;
  readonly #counts = { delivered: 0, conflict: 0, failed: 0, labels: 0 };

  constructor(context: Context, spool: SpoolFile, file: EnrollFile | null) {
    this.#context = context;
    this.#spool = spool;
    this.#file = file;
  }

  async run(label: KeyLabel | null): Promise<number> {
    const spool = this.#spool;
    if (spool.tornNotice) notify(this.#context, safe(spool.tornNotice));
    if (spool.waiting === 0) {
      await checkRegistry(this.#context, spool.path, spool.header);
      notify(this.#context, `No key is waiting in ${safe(spool.path)}.`);
      return exitCodes.done;
    }
    const { header, away } = await meetRegistry(this.#context);
    if (away !== null) throw errorAfter(away, this.#words(), null);
    demandRegistry(spool.path, spool.header, header);
    await this.#deliver(label);
    notify(this.#context, `${this.#words()}${this.#file === null ? '' : `; results are in ${safe(this.#file.path)}`}`);
    this.#sayLabels();
    const { conflict, failed } = this.#counts;
    return conflict + failed > 0 ? exitCodes.partial : exitCodes.done;
  }

  async #deliver(label: KeyLabel | null): Promise<void> {
    const context = this.#context;
    const delivery = new SpoolDelivery({ context, spool: this.#spool, label, write: row => this.#write(row) });
    try {
      for (const item of this.#spool.items()) {
        if (context.io.interrupt.aborted) throw interrupted();
        const { row } = await delivery.deliver(item);
        const isDelivered = row.result === 'registered' || row.result === 'known';
        if (isDelivered && label === null && item.entry.label) this.#counts.labels++;
      }
    } catch (error) {
      throw errorAfter(error, this.#words(), null);
    }
  }

  async #write(row: EnrollmentOutcome): Promise<void> {
    const { result } = row;
    this.#counts[result === 'conflict' || result === 'failed' ? result : 'delivered']++;
    await this.#file?.add(row);
    await showRow(this.#context, row);
  }

  #words(): string {
    const { delivered, conflict, failed } = this.#counts;
    const waiting = this.#spool.waiting;
    const parts = [
      `${counted(delivered, 'key')} delivered`,
      ...(conflict === 0 ? [] : [counted(conflict, 'conflict')]),
      ...(failed === 0 ? [] : [`${count(failed)} failed`]),
      ...(waiting === 0 ? [] : [`${count(waiting)} still waiting in ${this.#spool.path}`]),
    ];
    return parts.join(', ');
  }

  #sayLabels(): void {
    const { labels } = this.#counts;
    if (labels === 0) return;
    const from = !this.#file?.isCsv ? 'DEVICE' : `--file ${shellWord(this.#file.path)}`;
    notify(this.#context, `${counted(labels, 'key')} had no label printed: devmgr label ${from} --printer HOST`);
  }
}
