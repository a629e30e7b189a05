/** The settings of how people sign in. */
import { describe, expect, it } from 'vitest';
import { readSetting } from '../../daemon/home/given-settings.ts';
import type { Env } from '../../src/contract/local.ts';

const publicUrlFrom = (publicUrl: string | null, env: Env) => readSetting('publicUrl', { publicUrl }, env);
const stepUpFrom = (stepUp: string | null, env: Env) => readSetting('stepUp', { stepUp }, env);

describe('--public-url', () => {
  it('is the origin of an HTTPS address with a name, or of localhost; the flag overrides the environment', () => {
    const env = { DEVMGR_PUBLIC_URL: 'https://one.example.com' };
    expect(publicUrlFrom(null, env)).toBe('https://one.example.com');
    expect(publicUrlFrom('https://Two.example.com:443/', env)).toBe('https://two.example.com');
    expect(publicUrlFrom('https://two.example.com:8443', env)).toBe('https://two.example.com:8443');
    expect(publicUrlFrom('http://localhost:8080', {})).toBe('http://localhost:8080');
    expect(publicUrlFrom(null, {})).toBeUndefined();
    expect(publicUrlFrom(null, { DEVMGR_PUBLIC_URL: '' })).toBeUndefined();
  });

  it.each([
    'http://one.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1:8080',
    'https://192.0.2.7',
    'https://[2001:db8::1]',
    'https://one.example.com/devmgr',
    'https://one.example.com/?a',
    'https://user@one.example.com',
    'one.example.com',
  ])('refuses %s with exit code 2', text => {
    const refused = (name: string) => expect.objectContaining({ exitCode: 2, message: `${name} is malformed` });
    expect(() => publicUrlFrom(text, {})).toThrow(refused('--public-url'));
    expect(() => publicUrlFrom(null, { DEVMGR_PUBLIC_URL: text })).toThrow(refused('DEVMGR_PUBLIC_URL'));
  });
});

describe('--step-up', () => {
  it('is console unless the flag or the environment specifies otherwise', () => {
    expect(stepUpFrom(null, {})).toBe('console');
    expect(stepUpFrom(null, { DEVMGR_STEP_UP: '' })).toBe('console');
    expect(stepUpFrom(null, { DEVMGR_STEP_UP: 'all' })).toBe('all');
    expect(stepUpFrom('off', { DEVMGR_STEP_UP: 'all' })).toBe('off');
  });

  it('refuses another word with exit code 2', () => {
    for (const word of ['on', 'CONSOLE']) {
      expect(() => stepUpFrom(word, {})).toThrow(expect.objectContaining({ exitCode: 2 }));
      expect(() => stepUpFrom(null, { DEVMGR_STEP_UP: word })).toThrow(expect.objectContaining({ exitCode: 2 }));
    }
  });
});
