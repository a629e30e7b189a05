// The thread for PC/SC in the build: its code is a text in the program, so that it also runs where the program is one file.
import { join } from 'node:path';
import { root } from './project.mjs';

const folder = join(root, 'drivers', 'pcsc', 'ffi');

/** Replaces drivers/pcsc/ffi/start-worker.ts. */
export const pcscWorker = {
  name: 'pcsc-worker',
  load: {
    filter: { id: /[\\/]drivers[\\/]pcsc[\\/]ffi[\\/]start-worker\.ts$/ },
    async handler() {
      return {
        code: `import { Worker } from 'node:worker_threads';
const options = { eval: true, execArgv: ['--disable-warning=ExperimentalWarning'] };
export const startWorker = () => new Worker(${JSON.stringify(await codeOfWorker())}, options);`,
        moduleType: 'js',
      };
    },
  },
};

async function codeOfWorker() {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ cwd: root, input: join(folder, 'worker.ts'), platform: 'node', tsconfig: false });
  try {
    const { output } = await build.generate({ format: 'cjs', strict: true, comments: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}
