import type { Bindings } from '../http/bindings.ts';
import { retrying } from '../requests/context.ts';
import type { CredentialService } from './credential-service.ts';
import type { KeyResetService } from './key-reset-service.ts';
import type { PinService } from './pin-service.ts';
import type { ProviderService } from './provider-service.ts';
import type { Reconcile } from './reconcile.ts';

/** The services of issuing. */
interface IssuingServices {
  readonly providers: ProviderService;
  readonly credentials: CredentialService;
  readonly pins: PinService;
  readonly resets: KeyResetService;
  readonly reconcile: Reconcile;
}

/**
 * Providers at which keys are issued, and credentials there. Requests are repeated after a `Conflict`: the removal of a lost key may
 * have changed the same credential.
 */
export const issuingOperations = (to: IssuingServices): Bindings => ({
  listProviders: () => to.providers.list(),
  createProvider: ({ context, body }) => to.providers.create(context, body),
  testProvider: ({ params }) => to.providers.test(params.providerId),
  reconcileProvider: ({ context, params, body }) => retrying(() => to.reconcile(context, params.providerId, body)),
  setProviderSecret: ({ context, params, body }) => to.providers.setSecret(context, params.providerId, body.secret),
  removeProvider: ({ context, params }) => to.providers.remove(context, params.providerId),
  listCredentials: ({ context, params }) => to.credentials.list(context, params.deviceId),
  startCredential: ({ context, params, body }) => retrying(() => to.credentials.start(context, params.deviceId, body)),
  finishCredential: ({ context, params, body }) =>
    retrying(() => to.credentials.finish(context, params.deviceId, params.credentialId, body)),
  removeCredential: ({ context, params }) =>
    retrying(() => to.credentials.remove(context, params.deviceId, params.credentialId)),
  showPinPolicy: () => to.pins.policy(),
  setPinPolicy: ({ context, body }) => to.pins.setPolicy(context, body),
  showKeyReset: ({ params }) => to.resets.show(params.deviceId),
  recordKeyReset: ({ context, params, body }) => to.resets.record(context, params.deviceId, body),
  storePin: ({ context, params, body }) => to.pins.store(context, params.deviceId, body),
  readPin: ({ context, params }) => to.pins.read(context, params.deviceId),
});
