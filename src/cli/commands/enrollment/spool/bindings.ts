/**
 * The bindings that a run has begun. A key has its line on the disk before the first request that changes the registry, and the line of its
 * end after its row is written. So a run that was killed, or whose answer was lost, leaves the key and its person by name: the next
 * run finishes the binding before anyone gets another key.
 */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Key } from '../../../../contract/hardware.ts';
import { isSameName } from '../../../../contract/person-key.ts';
import { activationKey, type EnrollKeyOptions, type EnrollmentParts } from '../../../../enrollment/key-enrollment.ts';
import { columnOf, type EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import { newKey } from '../../../client/request-retry.ts';
import { Fault } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { homeFile, InUse, isClosedFolder } from '../../../jobs/run-lock.ts';
import { errorAfter } from '../../../jobs/send.ts';
import { makeFolder } from '../../../settings/files.ts';
import { safe } from '../../../terminal/text.ts';
import type { IssuePlan } from '../../issuing/issuing.ts';
import { anotherKey } from '../enroll/enrollment-parts.ts';
import type { KeyLabel } from '../labels/enrolled.ts';
import { SpoolDelivery } from './deliver.ts';
import { entryOf, type HandoverNeeds, type SpoolEntry, waitingRow } from './lines.ts';
import type { SpoolItem } from './read.ts';
import { meetRegistry } from './registry.ts';
import { SpoolFile, Unwritable } from './spool-file.ts';
import { entryWords, handedOver, namedAs, wordsOf } from './unfinished.ts';

/** How a run binds. */
export interface BindingOptions extends EnrollKeyOptions {
  readonly label: KeyLabel | null;
  readonly issue: IssuePlan | null;
  readonly receipt: string | null;
}

/** For whom a key is; `name` is absent without a roster. */
export interface BindingPerson {
  readonly userId: string | null;
  readonly name?: string | null;
}

interface Begun {
  readonly item: SpoolItem;
  readonly file: SpoolFile;
  /** Whether a request got no answer: then a row that failed does not end the binding. */
  isUncertain: boolean;
  /** Its last row; null before the first one. */
  row: EnrollmentOutcome | null;
}

interface BeginOptions {
  /** The idempotency key; null makes one. */
  readonly id?: string | null;
  /** Whether the registration is sent next; else the key is registered. */
  readonly registers?: boolean;
  readonly proofId?: string | null;
}

/** Runs of one home that bind at the same time. */
const MOST_RUNS = 16;

/** The bindings of a run, and those that earlier runs have not finished. */
export class Bindings {
  readonly #context: Context;
  readonly #options: BindingOptions;
  /** The first one is written. With `isShared` it is the spool file, which delivers what waits itself. */
  readonly #files: readonly SpoolFile[];
  readonly #isShared: boolean;
  /** By serial number. */
  readonly #begun = new Map<string, Begun>();

  private constructor(context: Context, options: BindingOptions, files: readonly SpoolFile[], isShared: boolean) {
    this.#context = context;
    this.#options = options;
    this.#files = files;
    this.#isShared = isShared;
  }

  /** The bindings of this run are in the spool file. */
  static in(context: Context, options: BindingOptions, spool: SpoolFile): Bindings {
    return new Bindings(context, options, [spool], true);
  }

  /**
   * The bindings of this run are in a file of the home for its registry. None are stored in a home that this user cannot write to, or if
   * too many runs use it; a warning names that. Throws if the disk is full, or if a file of an earlier run cannot be read: it may name an
   * unfinished key.
   */
  static async open(context: Context, options: BindingOptions): Promise<Bindings> {
    const { header } = await meetRegistry(context);
    const base = homeFile(context, 'bindings', [header.registry ?? header.servers.join(' ')]);
    const files: SpoolFile[] = [];
    let missing = `${MOST_RUNS} runs use ${dirname(base)}`;
    try {
      makeFolder(dirname(base));
      for (let number = 1; number <= MOST_RUNS; number++) {
        const path = `${base}.${number}`;
        if (files.length > 0 && !existsSync(path)) continue;
        const file = opened(path, files.length > 0 ? null : header);
        if (file !== null) files.push(file);
      }
    } catch (error) {
      if (!isClosedFolder(error) || existsSync(`${base}.1`)) {
        for (const file of files) await file.closeOrRemove();
        throw error;
      }
      missing = (error as Error).message;
    }
    if (files.length === 0)
      context.out.warn(
        safe(`bindings are not recorded: ${missing}. After an interruption, compare the results with: devmgr list`),
      );
    return new Bindings(context, options, files, false);
  }

  /**
   * Finishes what earlier runs have begun, and returns the rows of what is bound. `write` has each row of a result on the disk. A key
   * that is still needed stays unfinished.
   */
  async settle(write: (row: EnrollmentOutcome) => Promise<void>): Promise<readonly EnrollmentOutcome[]> {
    if (this.#isShared) return [];
    const rows: EnrollmentOutcome[] = [];
    const waiting = this.#files.flatMap(file => [...file.items()].map(item => ({ file, item })));
    if (waiting.length > 0) notify(this.#context, safe(namedAs(waiting.map(({ item }) => entryWords(item.entry)))));
    for (const { file, item } of waiting) {
      const delivery = new SpoolDelivery({
        context: this.#context,
        spool: file,
        label: this.#options.label,
        handover: (entry, row) => handedOver(this.#context, entry, row),
        write: async (row, stillWaits) => {
          if (!stillWaits) await write(row);
        },
      });
      const { row, stillWaits } = await delivery.deliver(item);
      if (stillWaits) this.#keep(file, item, row);
      else rows.push(row);
    }
    if (this.#begun.size > 0) notify(this.#context, safe(this.#words()));
    return rows;
  }

  #keep(file: SpoolFile, item: SpoolItem, row: EnrollmentOutcome): void {
    file.resume(item);
    this.#begun.set(item.entry.registration.serialNumber, { item, file, isUncertain: row.status !== 'ACTIVE', row });
  }

  /** Whether bindings are on the disk. */
  get isRecorded(): boolean {
    return this.#files.length > 0;
  }

  /** Requests that have the binding of the key on the disk before they are sent. */
  partsOf({ registry, words }: EnrollmentParts, key: Key, person: BindingPerson): EnrollmentParts {
    const { serialNumber } = key;
    if (serialNumber === null || !this.isRecorded) return { registry, words };
    const numbered = { ...key, serialNumber };
    const sending = async <T>(begin: BeginOptions, send: (id: string) => Promise<T>): Promise<T> => {
      const begun = await this.begin(numbered, person, begin);
      try {
        return await send(begun.item.entry.id);
      } catch (error) {
        const { isAway, isLost } = registry.failureOf(error);
        begun.isUncertain ||= isAway || isLost;
        throw error;
      }
    };
    return {
      words,
      registry: {
        ...registry,
        register: (body, id) =>
          sending({ id, registers: true, proofId: body.proofId ?? null }, own => registry.register(body, own)),
        activate: (body, id) => sending({}, own => registry.activate(body, id ?? activationKey(own))),
        failureOf: error =>
          error instanceof Unwritable
            ? { isOfOneKey: true, isAway: false, isDuplicate: false, isLost: false }
            : registry.failureOf(error),
      },
    };
  }

  /** Records the binding of a key, unless this run has begun it. Only with `isRecorded`. */
  async begin(key: NumberedKey, person: BindingPerson, options: BeginOptions = {}): Promise<Begun> {
    const before = this.#begun.get(key.serialNumber);
    const entry = this.#entryOf(key, person, options);
    // The request of an idempotency key never changes.
    if (before !== undefined && isSame(before.item.entry, entry, options.registers ?? false)) return before;
    const file = this.#files[0]!;
    const begun = { item: await file.begin(entry), file, isUncertain: false, row: null };
    this.#begun.set(key.serialNumber, begun);
    if (before !== undefined) await before.file.end(before.item);
    return begun;
  }

  #entryOf(key: NumberedKey, { userId, name }: BindingPerson, { id = null, proofId = null }: BeginOptions): SpoolEntry {
    const { issue, receipt } = this.#options;
    const then: HandoverNeeds = { providers: issue?.providers.map(columnOf) ?? [], receipt: receipt !== null };
    const isNeeded = then.providers.length > 0 || then.receipt;
    const entry = entryOf(key, id ?? newKey(), { ...this.#options, activateFor: userId }, name);
    return {
      ...entry,
      ...(proofId === null ? {} : { proof: { proof: null, proofId, refusal: null } }),
      ...(userId !== null && isNeeded && { then }),
    };
  }

  /** The row of the key is written. The binding has ended, unless the key is needed again. */
  async written(row: EnrollmentOutcome): Promise<void> {
    const begun = row.serialNumber === null ? undefined : this.#begun.get(row.serialNumber);
    if (begun === undefined) return;
    begun.row = row;
    if (row.result === 'spooled') {
      this.#begun.delete(row.serialNumber!);
      return;
    }
    const isBound = row.status === 'ACTIVE' && isSameName(row.userId, begun.item.entry.userId);
    const isComplete = isBound && row.result !== 'failed';
    if (!isComplete && (isBound || begun.isUncertain)) return;
    await begun.file.end(begun.item);
    this.#begun.delete(row.serialNumber!);
  }

  /** The registry could not take the key now: it waits in the spool file. False if its binding was not begun. */
  waits(serialNumber: string): boolean {
    const begun = this.#begun.get(serialNumber);
    if (begun === undefined) return false;
    begun.file.waits(begun.item);
    return true;
  }

  /** Why a person does not get this key: another one is unfinished. Null if none is. */
  unfinished(userId: string, serialNumber: string): string | null {
    const others = [...this.#begun.values()].filter(
      ({ item: { entry } }) => isSameName(entry.userId, userId) && entry.registration.serialNumber !== serialNumber,
    );
    if (others.length === 0) return null;
    return `${userId} has an unfinished key: ${others.map(begunWords).join('; ')}. ${anotherKey}`;
  }

  /** The person gets another key: what is unfinished stays as it is. */
  async leave(userId: string, except: string | null = null): Promise<void> {
    for (const [serialNumber, begun] of this.#begun)
      if (isSameName(begun.item.entry.userId, userId) && serialNumber !== except) {
        await begun.file.end(begun.item);
        this.#begun.delete(serialNumber);
      }
  }

  /** The rows of what is unfinished, for scripts: of all keys, or of those that have no row yet. */
  rows(isForAll: boolean): readonly EnrollmentOutcome[] {
    const begun = [...this.#begun.values()].filter(({ row }) => isForAll || row === null);
    return begun.map(({ item: { entry }, row }) => ({
      ...(row ?? waitingRow(entry, { result: 'failed' })),
      result: 'failed',
      message: `unfinished: ${row?.message ?? 'the registry has not answered'}`,
    }));
  }

  #words(): string {
    return `${namedAs([...this.#begun.values()].map(begunWords))} Plug ${this.#begun.size === 1 ? 'it' : 'them'} in to continue.`;
  }

  /** An error of the run with what is unfinished. */
  explained(error: unknown): unknown {
    if (this.#begun.size === 0) return error;
    const words = namedAs([...this.#begun.values()].map(begunWords)).replace(/\.$/, '');
    const own = error instanceof Fault && error.kind !== 'unreachable' ? error.hint : null;
    return errorAfter(error, words, own ?? 'run the same command again: it finishes this before the next key');
  }

  /** Names what is unfinished at the end of a run without an error. */
  end(): void {
    if (this.#begun.size > 0) notify(this.#context, safe(`${this.#words()} Run the same command again.`));
  }

  async close(): Promise<void> {
    if (!this.#isShared) for (const file of this.#files) await file.closeOrRemove();
  }
}

/** `registers`: whether the registration is sent, which has a proof. */
const isSame = (one: SpoolEntry, other: SpoolEntry, registers: boolean): boolean =>
  isSameName(one.userId, other.userId) &&
  (!registers ||
    JSON.stringify([one.registration, one.proof?.proofId]) ===
      JSON.stringify([other.registration, other.proof?.proofId]));

/** Null if another run uses the file. */
function opened(path: string, header: Parameters<typeof SpoolFile.open>[1]): SpoolFile | null {
  try {
    return SpoolFile.open(path, header);
  } catch (error) {
    if (error instanceof InUse) return null;
    throw error;
  }
}

const begunWords = ({ item, row }: Begun): string => wordsOf(item.entry, row);
