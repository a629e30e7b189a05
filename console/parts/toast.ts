/** Short reports of what was done, at the edge of the window. What draws them is loaded with the first. */
import { signal } from '@preact/signals';

/** Content of a toast. */
export interface Toast {
  readonly words: string;
  /** Reverts what was done; the toast then offers it. Resolves with what the next toast reports. */
  readonly undo?: (() => Promise<string>) | undefined;
}

/** Toasts that wait to be shown. Null before the first. */
export const toasts = signal<readonly Toast[] | null>(null);

/** Reports what was done, for five seconds; with `undo` for ten. It stays while it is under the pointer or has the focus (Alt+T). */
export function toast(words: string, undo?: Toast['undo']): void {
  toasts.value = [...(toasts.value ?? []), { words, undo }];
}

/** Follows a change of a record: reports it, and loads its data again. */
export const reporting =
  (reload: () => void) =>
  (done?: string, undo?: Toast['undo']): void => {
    if (done) toast(done, undo);
    reload();
  };
