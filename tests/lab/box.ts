/** A box of new keys of several models, each with its serial number and what the kernel knows it by. */
import type { KeySpec } from './key-models.ts';

export interface BoxKey {
  readonly serial: string;
  readonly spec: KeySpec;
  readonly ids: { readonly vendorId: string; readonly productId: string; readonly serial: string | null };
}

export class Box {
  readonly #pick: <T>(list: readonly T[]) => T;
  #created = 0;

  constructor(pick: <T>(list: readonly T[]) => T) {
    this.#pick = pick;
  }

  /** A key that no one has seen. Two of one model without a serial in the descriptor could not be distinguished in /sys. */
  take(held: readonly BoxKey[]): BoxKey {
    const number = ++this.#created;
    const model = this.#pick(['plain', 'plain', 'bank', 'yubikey5', 'nitrokey3'] as const);
    const again = held.some(key => key.spec.model === model);
    if (model === 'yubikey5' && !again) {
      const ownSerial = (20_000_000 + number).toString(16).padStart(8, '0');
      const ids = { vendorId: '1050', productId: '0407', serial: null };
      return { serial: String(20_000_000 + number), spec: { model, ownSerial }, ids };
    }
    if (model === 'nitrokey3' && !again) {
      const ownSerial = (number + 2 ** 40).toString(16).padStart(32, 'a');
      return {
        serial: ownSerial.toUpperCase(),
        spec: { model, ownSerial },
        ids: { vendorId: '20a0', productId: '42b2', serial: null },
      };
    }
    const serial = `BOX-${1000 + number}`;
    return model === 'bank'
      ? { serial, spec: { model, serial }, ids: { vendorId: '055c', productId: 'db08', serial } }
      : { serial, spec: { model: 'plain', serial }, ids: { vendorId: '096e', productId: '0850', serial } };
  }
}
