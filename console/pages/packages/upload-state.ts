/** One upload, from the form to the comparison of the digests. */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { AppVersion } from '../../../src/contract/apps.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { upload } from '../../api/upload.ts';
import type { PackageFields } from './upload-form.tsx';

/** Where an upload is. */
export type UploadPhase =
  | { readonly name: 'form'; readonly problem: Problem | null; readonly wasCanceled: boolean }
  /** `done`: bytes that are sent; when the daemon has stored the package, those that are part of the digest. */
  | { readonly name: 'sending'; readonly file: File; readonly done: number; readonly isStored: boolean }
  /** `digest` is that of the file in this browser; null if it could not be read again. */
  | { readonly name: 'done'; readonly app: AppVersion; readonly digest: string | null };

/** Sends one package after another until one is stored. */
export class PackageUpload {
  readonly #phase = signal<UploadPhase>({ name: 'form', problem: null, wasCanceled: false });
  #abort: AbortController | null = null;
  #isStored = false;

  get phase(): ReadonlySignal<UploadPhase> {
    return this.#phase;
  }

  /** Sends the file and reads it a second time for its digest, both piece by piece. Resolves with whether it is stored. */
  async start(file: File, fields: PackageFields): Promise<boolean> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#isStored = false;
    let read = 0;
    const show = (done: number) => {
      if (!abort.signal.aborted) this.#phase.value = { name: 'sending', file, done, isStored: this.#isStored };
    };
    const onRead = (bytes: number) => {
      read = bytes;
      if (this.#isStored) show(read);
    };
    show(0);
    try {
      const { digestOf } = await import('./digest.ts');
      abort.signal.throwIfAborted();
      // If the file cannot be read, the daemon may have stored it all the same: the result of the upload counts.
      const digest = digestOf(file, onRead, abort.signal).catch(() => null);
      const app = await upload('uploadAppVersion', {}, file, { ...fields }, { onSent: show, signal: abort.signal });
      this.#isStored = true;
      show(read);
      this.#phase.value = { name: 'done', app, digest: await digest };
      return true;
    } catch (error) {
      const wasCanceled = abort.signal.aborted;
      abort.abort();
      this.#phase.value = { name: 'form', problem: wasCanceled ? null : problemOf(error), wasCanceled };
      return false;
    }
  }

  /** Ends an upload that is not stored yet: the daemon discards what it has received. Later it would hide what is stored. */
  readonly cancel = (): void => {
    if (!this.#isStored) this.dispose();
  };

  /** Ends the upload, or the comparison after it: the page is left. */
  dispose(): void {
    this.#abort?.abort();
  }
}
