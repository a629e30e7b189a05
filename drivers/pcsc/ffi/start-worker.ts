import { Worker } from 'node:worker_threads';

/** node:ffi reports at its first use that it is experimental. */
const options = { execArgv: ['--disable-warning=ExperimentalWarning'] };

/** Starts the thread of worker.ts. In the build, scripts/lib/bundle.mjs replaces this file with one that contains the thread's code. */
export const startWorker = (): Worker => new Worker(new URL('./worker.ts', import.meta.url), options);
