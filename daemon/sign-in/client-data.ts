/** Data that a browser has a security key sign (WebAuthn 3, 5.8.1), as far as devmgr reads it itself. All of it is text of a client. */
interface ClientData {
  /** `webauthn.create` or `webauthn.get`. */
  readonly type: unknown;
  readonly challenge: unknown;
  readonly origin: unknown;
  /** Whether the page was in a frame of a page of another origin. */
  readonly framed: boolean;
}

/** `json`: base64url. Null if it is not a JSON object. */
export function readClientData(json: string): ClientData | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(json, 'base64url').toString());
    if (typeof data !== 'object' || data === null) return null;
    const { type, challenge, origin, crossOrigin, topOrigin } = data as Readonly<Record<string, unknown>>;
    return { type, challenge, origin, framed: (crossOrigin ?? false) !== false || topOrigin !== undefined };
  } catch {
    return null;
  }
}

/** The challenge that an answer names; empty if it names none. */
export function challengeIn({ response }: { readonly response: { readonly clientDataJSON: string } }): string {
  const challenge = readClientData(response.clientDataJSON)?.challenge;
  return typeof challenge === 'string' ? challenge : '';
}
