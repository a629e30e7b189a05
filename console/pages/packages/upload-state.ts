/** One upload, from the form to the comparison of the digests. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { AppVersion } from '../../../src/contract/apps.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { type PackageFields, sendPackage } from './send.ts';

/** Where an upload is. */
export type UploadPhase =
  | { readonly name: 'form'; readonly problem: Problem | null; readonly wasCanceled: boolean }
  /** `sent`: bytes that are sent and part of the digest. */
  | { readonly name: 'sending'; readonly file: File; readonly sent: number }
  /** `digest` is that of the file in this browser. */
  | { readonly name: 'done'; readonly app: AppVersion; readonly digest: string };

/** Sends one package after another until one is stored. */
export class Upload {
  readonly #phase = signal<UploadPhase>({ name: 'form', problem: null, wasCanceled: false });
  #abort: AbortController | null = null;

  get phase(): ReadonlySignal<UploadPhase> {
    return this.#phase;
  }

  /** Sends the file and reads it a second time for its digest, both piece by piece. Resolves with whether it is stored. */
  async start(file: File, fields: PackageFields): Promise<boolean> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#phase.value = { name: 'sending', file, sent: 0 };
    try {
      const { digestOf } = await import('./digest.ts');
      const done = { sent: 0, read: 0 };
      const show = (progress: Partial<typeof done>) => {
        Object.assign(done, progress);
        if (!abort.signal.aborted) this.#phase.value = { name: 'sending', file, sent: Math.min(done.sent, done.read) };
      };
      const [app, digest] = await Promise.all([
        sendPackage(file, fields, sent => show({ sent }), abort.signal),
        digestOf(file, read => show({ read }), abort.signal),
      ]);
      this.#phase.value = { name: 'done', app, digest };
      return true;
    } catch (error) {
      const wasCanceled = abort.signal.aborted;
      abort.abort();
      this.#phase.value = { name: 'form', problem: wasCanceled ? null : problemOf(error), wasCanceled };
      return false;
    }
  }

  /** Ends an upload that is under way: the daemon discards what it has received. */
  readonly cancel = (): void => this.#abort?.abort();
}
