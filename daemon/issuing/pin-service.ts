/** PINs that stations have made. They are encrypted before they reach the registry, which cannot decrypt them. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { pinBounds } from '../../src/contract/limits.ts';
import type { PinPolicy } from '../../src/contract/pins.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import { readDevice } from '../devices/lookups.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { StoredSettings } from '../requests/stored-settings.ts';
import type { DocumentSet } from '../store/document.ts';
import type { Store } from '../store/store.ts';
import * as domain from './pin.ts';

/** A refusal is thrown as an `ApiError`. */
export class PinService extends Service {
  readonly #policy: StoredSettings<PinPolicy>;

  constructor(parts: ServiceParts) {
    super(parts);
    const none = { recipients: [] };
    this.#policy = new StoredSettings({ ...parts, name: domain.PIN_POLICY, type: 'PIN_POLICY_SET', none });
  }

  policy(): Promise<PinPolicy> {
    return this.#policy.show();
  }

  async setPolicy(context: Context, policy: PinPolicy): Promise<PinPolicy> {
    await checkRecipients(policy);
    return this.#policy.set(context, policy);
  }

  async save(
    context: Context,
    deviceId: string,
    { sealed, reset = false, dryRun = false }: Body<'storePin'>,
  ): Promise<Data<'storePin'>> {
    if (sealed === undefined && !reset) throw inputError('sealed', 'is required');
    if (sealed !== undefined && !domain.isSealed(sealed)) throw inputError('sealed', 'must be an age file');
    return retrying(async () => {
      const { number, status } = await readDevice(this.store, deviceId);
      if (status === 'DEACTIVATED') throw new ApiError(Code.deviceDeactivated);
      const document = await this.store.document(domain.pinDocument(number));
      const before = domain.pinIn(document);
      const isStored = before !== null && before.sealed !== null;
      if (isStored && !reset) throw new ApiError(Code.parameterError, STORED);
      if (sealed === undefined && !isStored) return presented(number, null);
      const earlier = before === null ? [] : earlierPins(context, before);
      if (dryRun) return presented(number, before);
      const at = this.now();
      const pin = {
        sealed: sealed ?? null,
        storedAt: at,
        openedAt: null,
        earlier,
      };
      const detail = isStored ? { reason: 'reset', replaced: iso(before.storedAt) } : {};
      const entry = { type: sealed === undefined ? 'PIN_REMOVED' : 'PIN_STORED', detail } as const;
      const changes = [domain.setPin(number, document?.version ?? 0, pin, entry)];
      const guards = [{ kind: 'device', device: number, status: [status] }] as const;
      return commitLast(this.store, context, { at, changes, guards }, () => presented(number, pin));
    });
  }

  async read(context: Context, deviceId: string): Promise<Data<'readPin'>> {
    const { number, status } = await readDevice(this.store, deviceId);
    return retrying(async () => {
      const document = await this.store.document(domain.pinDocument(number));
      const pin = domain.pinIn(document);
      if (!document || !pin || status === 'DEACTIVATED') throw new ApiError(404, 'no PIN of this device is stored');
      const at = this.now();
      const changes = [domain.setPin(number, document.version, { ...pin, openedAt: at }, { type: 'PIN_READ' })];
      const { sealed, earlier } = pin;
      const shown = { ...presented(number, pin), sealed, earlier: [...earlier] };
      return commitLast(this.store, context, { at, changes }, () => shown);
    });
  }
}

/**
 * Forgets the PIN of a key that was reset: it becomes an earlier one. Null if none is stored. Refuses as `PinService.save` does;
 * `context` null: the reset was permitted before.
 */
export async function forgottenPin(
  store: Pick<Store, 'document'>,
  context: Context | null,
  device: number,
  at: number,
): Promise<DocumentSet | null> {
  const document = await store.document(domain.pinDocument(device));
  const before = domain.pinIn(document);
  if (!document || !before || before.sealed === null) return null;
  const pin = { sealed: null, storedAt: at, openedAt: null, earlier: earlierPins(context, before) };
  const detail = { reason: 'reset', replaced: iso(before.storedAt) };
  return domain.setPin(device, document.version, pin, { type: 'PIN_REMOVED', detail });
}

/** The sealed PINs that a new one leaves readable. */
function earlierPins(context: Context | null, before: domain.StoredPin): readonly string[] {
  const earlier = domain.sealedPins(before);
  if (earlier.length > pinBounds.earlier && context && context.caller.role !== 'ADMIN')
    throw new ApiError(Code.parameterError, FULL);
  return earlier.slice(0, pinBounds.earlier);
}

/** Otherwise an invalid recipient would be noticed only when keys are issued. */
async function checkRecipients({ recipients }: PinPolicy): Promise<void> {
  if (recipients.length === 0) return;
  const { Encrypter } = await import('age-encryption');
  for (const recipient of recipients)
    try {
      const encrypter = new Encrypter();
      encrypter.addRecipient(recipient);
      await encrypter.encrypt('');
    } catch {
      throw inputError('recipients', `: ${recipient} is not an age recipient`);
    }
}

const STORED = 'a PIN of this device is already stored: reset is required to replace it, after the key was reset';

const FULL = `${pinBounds.earlier} earlier PINs of this device are stored: only an ADMIN can replace one more, because the oldest is lost`;

const presented = (device: number, pin: domain.StoredPin | null) => ({
  deviceId: deviceIds.format(device),
  storedAt: pin && pin.sealed !== null ? iso(pin.storedAt) : null,
  openedAt: pin?.openedAt ? iso(pin.openedAt) : null,
});
