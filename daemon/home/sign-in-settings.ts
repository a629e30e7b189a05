/** Settings that decide how people sign in. */
import { type Env, environment, type StepUpMode, stepUpModes } from '../../src/contract/local.ts';
import { isAddressHost } from '../networks.ts';
import { StartRefused } from '../start-refused.ts';

/**
 * The origin at which people open the daemon in a browser, as `given` or else the environment names it; undefined if neither does.
 * Security keys are registered for its name, so it must have one, and use TLS unless it is localhost. Throws `StartRefused`.
 */
export function publicUrlFrom(given: string | null, env: Env): string | undefined {
  const text = given ?? (env[environment.publicUrl] || null);
  if (text === null) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (isPlain && isSecure && !isAddressHost(url.hostname)) return url.origin;
  throw new StartRefused(
    2,
    `${given === null ? environment.publicUrl : '--public-url'} is malformed`,
    'write the address with a name and without a path, such as https://devmgr.example.com',
  );
}

/** The sessions that `given` or else the environment names. Throws `StartRefused`. */
export function stepUpFrom(given: string | null, env: Env): StepUpMode {
  const word = given ?? (env[environment.stepUp] || 'console');
  const mode = stepUpModes.find(known => known === word);
  if (mode) return mode;
  throw new StartRefused(
    2,
    `${given === null ? environment.stepUp : '--step-up'} is malformed`,
    'write console, all or off',
  );
}
