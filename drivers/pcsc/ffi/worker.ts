/** A thread that makes the blocking calls of PC/SC: one at a time, in the order in which they were requested. */
import { parentPort } from 'node:worker_threads';
import { abiOf } from './abi.ts';
import type { Calls, Request, Response } from './calls.ts';
import { loadNative } from './native.ts';
import { PcscFailure } from './results.ts';
import { SmartCards } from './smart-cards.ts';
import { watchReaders } from './watch-readers.ts';

const port = parentPort;
const abi = abiOf(process.platform, process.arch);
if (port === null || abi === null) throw new Error(`PC/SC is not known on ${process.platform}-${process.arch}`);
const send = (response: Response): void => port.postMessage(response);

const cards = new SmartCards(abi, loadNative(abi));
const watch: Calls['watch'] = stop => watchReaders(cards, stop, readers => send({ readers }));

port.on('message', ({ id, call, values }: Request) => {
  const work = (call === 'watch' ? watch : cards[call].bind(cards)) as (...given: readonly unknown[]) => unknown;
  try {
    send({ id, value: work(...values) });
  } catch (error) {
    if (!(error instanceof PcscFailure)) throw error;
    send({ id, result: error.result });
  }
});
