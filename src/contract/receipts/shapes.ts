/** What a key signs, and what it has signed, as the interface has them. */
import { Type } from 'typebox';
import { serialNumber } from '../device-fields.ts';
import { line } from '../fields.ts';
import { receiptBounds } from '../limits.ts';

const bytes = (most: number, description: string) =>
  line(Math.ceil((most * 4) / 3), {
    pattern: '^[A-Za-z0-9_-]+$',
    shape: 'base64url without padding',
    description: `${description}; base64url, at most ${most} bytes`,
  });
/** What a key has signed. */
export const assertion = {
  credentialId: bytes(receiptBounds.credentialId, 'id of the credential that signed'),
  authenticatorData: bytes(receiptBounds.authenticatorData, 'authenticator data'),
  signature: bytes(receiptBounds.signature, 'signature: ECDSA with P-256 and SHA-256, in DER'),
};
/** The text of a receipt, as the registry made it. */
export const signedText = Type.String({
  minLength: 1,
  maxLength: receiptBounds.text,
  description: 'the text that the key signs: the SHA-256 of its UTF-8 is the client data hash',
});

/** What the hardware service is asked to sign. */
export const signing = Type.Object({
  serialNumber,
  text: signedText,
  credentials: Type.Array(assertion.credentialId, { minItems: 1, maxItems: receiptBounds.credentials }),
});
