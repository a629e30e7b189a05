/** Published vectors of the primitives that SCP11b uses. */
import { describe, expect, it } from 'vitest';
import { aesCmac, x963Kdf } from '../../daemon/proofs/judge/scp11b-crypto.ts';

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');

describe('AES-CMAC as in RFC 4493, section 4', () => {
  const key = bytes('2b7e151628aed2a6abf7158809cf4f3c');
  const message = bytes(
    '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710',
  );
  it.each([
    [0, 'bb1d6929e95937287fa37d129b756746'],
    [16, '070a16b46b4d4144f79bdd9dd04a287c'],
    [40, 'dfa66747de9ae63030ca32611497c827'],
    [64, '51f0bebf7e3b9d92fc49741779363cfe'],
  ])('of %i bytes', (length, expected) => {
    expect(hex(aesCmac(key, message.subarray(0, length)))).toBe(expected);
  });
});

describe('the key derivation of ANSI X9.63 with SHA-256 (NIST CAVP, ansx963_2001.rsp)', () => {
  it.each([
    ['96c05619d56c328ab95fe84b18264b08725b85e33fd34f08', '', '443024c3dae66b95e6f5670601558f71'],
    [
      '22518b10e70f2a3f243810ae3254139efbee04aa57c7af7d',
      '75eef81aa3041e33b80971203d2c0c52',
      'c498af77161cc59f2962b9a713e2b215152d139766ce34a776df11866a69bf2e52a13d9c7c6fc878c50c5ea0bc7b00e0da2447cfd874f6cf92f30d0097111485500c90c3af8b487872d04685d14c8d1dc8d7fa08beb0ce0ababc11f0bd496269142d43525a78e5bc79a17f59676a5706dc54d54d4d1f0bd7e386128ec26afc21',
    ],
  ])('of %s with %s', (secret, sharedInfo, expected) => {
    expect(hex(x963Kdf(bytes(secret), bytes(sharedInfo), expected.length / 2))).toBe(expected);
  });
});
