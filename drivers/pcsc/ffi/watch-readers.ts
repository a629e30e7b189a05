import type { ListedReader } from '../../protocols/pcscd.ts';
import type { SmartCards } from './smart-cards.ts';

/**
 * Milliseconds until the list of readers is read again without an event. Not all systems report a new reader, a reader can
 * appear between two calls, and a process that exits waits for its threads.
 */
const CHECK_AFTER = 1_000;
/** Milliseconds until a list is read again that named a reader which is not there. */
const PAUSE = 100;

/** Reports all readers after each change, until `stop[0]` is not 0. Throws PcscFailure if the service is gone. */
export function watchReaders(
  cards: Pick<SmartCards, 'readers' | 'changes'>,
  stop: Int32Array,
  report: (readers: readonly ListedReader[]) => void,
): void {
  let known: readonly ListedReader[] = [];
  const learn = (readers: readonly ListedReader[]): void => {
    if (isSameList(readers, known)) return;
    known = readers;
    report(known);
  };
  while (Atomics.load(stop, 0) === 0) {
    const names = cards.readers();
    learn(known.filter(({ name }) => names.includes(name)));
    // A reader in state 0 is new: the call returns its state at once.
    const listed = names.map(name => known.find(one => one.name === name) ?? { name, raw: 0 });
    const present = cards.changes(listed, CHECK_AFTER);
    if (present !== null) learn(present);
    if (present === null || present.length < listed.length) Atomics.wait(stop, 0, 0, PAUSE);
  }
}

function isSameList(some: readonly ListedReader[], others: readonly ListedReader[]): boolean {
  return (
    some.length === others.length && some.every(({ name, raw }, i) => name === others[i]?.name && raw === others[i].raw)
  );
}
