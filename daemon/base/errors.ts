/** Why a provider has refused a sign-in, or a session has ended. */

class ProviderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The provider does not answer, or not as a provider: another request may succeed. */
export class ProviderAway extends ProviderError {
  /** Seconds that the provider asks to wait at least (`Retry-After`); null if it does not say. */
  readonly waitSeconds: number | null;
  constructor(
    message: string,
    { waitSeconds = null, ...options }: ErrorOptions & { readonly waitSeconds?: number | null } = {},
  ) {
    super(message, options);
    this.waitSeconds = waitSeconds;
  }
}
/** The provider does not accept the registry as its client: no sign-in succeeds until an ADMIN changes that. The message is for ADMINs. */
export class ClientRefused extends ProviderAway {}
/** The address of the provider must not be asked: nothing is sent until the address is changed or allowed. */
export class AddressRefused extends ProviderAway {}
/** A token, or an answer, is not accepted. `message`: why, for the log. */
export class TokenRefused extends ProviderError {}
/** The provider reports that the session has ended. */
export class SessionOver extends ProviderError {}
/** The person has refused, or the provider has. */
export class SignInDenied extends ProviderError {}

/** A request needs a provider that does not answer now, or not as it must. The message is for clients: what it has done, and what to do. */
export class ProviderUnavailable extends ProviderError {}
