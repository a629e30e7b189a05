/** Checks a provider for an administrator: whether it responds, and what to register there. Changes nothing. */
import { endpoints } from '../../src/contract/endpoints.ts';
import type { Data } from '../../src/contract/routes.ts';
import type { ssoChecks } from '../../src/contract/values.ts';
import { proxyNamed } from '../../src/delivery/proxies.ts';
import { ProviderAway, TokenRefused } from '../base/errors.ts';
import type { Provider } from './provider.ts';
import { DEVICE_GRANT } from './records.ts';

type Inspection = Data<'testSso'>;
type CheckName = (typeof ssoChecks)[number];
type Finding = Inspection['findings'][number] & { readonly check: CheckName };

/** Seconds by which the clocks may differ before tokens are refused. */
const CLOCK = 60;

/** `provider`: null if single sign-on is off. `origin`: of the registry. */
export async function inspect(provider: Provider | null, origin: string): Promise<Inspection> {
  const redirectUri = origin + endpoints.finishSso.path;
  const addresses = { redirectUri, backchannelLogoutUri: origin + endpoints.logoutSso.path };
  const register = {
    ...addresses,
    grantTypes: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    scopes: ['openid'],
  };
  const failed = (check: CheckName, detail: string) => ({
    ok: false,
    findings: [{ check, ok: false, detail }],
    register,
  });
  if (!provider) return failed('settings', 'single sign-on is off');
  try {
    const found = await provider.inspect();
    const findings = [...findingsOf(found), await clientFinding(provider, redirectUri)];
    return { ok: findings.every(({ ok }) => ok), findings, register: { ...register, scopes: [...found.scopes] } };
  } catch (error) {
    if (error instanceof ProviderAway || error instanceof TokenRefused) return failed('discovery', error.message);
    throw error;
  }
}

function findingsOf({ metadata, keys, clockOff }: Awaited<ReturnType<Provider['inspect']>>): Finding[] {
  const proxy = proxyNamed(metadata.issuer);
  const hasDevice = metadata.device_authorization_endpoint !== undefined;
  const hasPkce = metadata.code_challenge_methods_supported?.includes('S256') ?? true;
  const device = hasDevice ? 'offered' : 'not offered: devmgr login --web signs terminals in';
  const logout = metadata.backchannel_logout_supported ? 'offered' : 'not announced';
  return [
    { check: 'discovery', ok: true, detail: `${metadata.issuer} answers${proxy ? `, through ${proxy}` : ''}` },
    { check: 'keys', ok: true, detail: `${keys} at ${metadata.jwks_uri}` },
    clockFinding(clockOff),
    { check: 'PKCE', ok: hasPkce, detail: hasPkce ? 'S256 is used' : 'S256 is not supported' },
    { check: 'device code', ok: true, detail: device },
    { check: 'back-channel logout', ok: true, detail: logout },
  ];
}

async function clientFinding(provider: Provider, redirectUri: string): Promise<Finding> {
  const check = 'client secret';
  try {
    const isAccepted = (await provider.checkClient(redirectUri)) === 'accepted';
    const detail = isAccepted ? 'accepted' : 'this provider shows only at a sign-in whether it accepts the secret';
    return { check, ok: true, detail };
  } catch (error) {
    if (error instanceof ProviderAway || error instanceof TokenRefused)
      return { check, ok: false, detail: error.message };
    throw error;
  }
}

/** `off`: seconds by which this clock is ahead; null if the provider sends no time. */
function clockFinding(off: number | null): Finding {
  if (off === null) return { check: 'clock', ok: true, detail: 'the provider sends no time to compare with' };
  const ok = Math.abs(off) < CLOCK;
  const side = off > 0 ? 'ahead of' : 'behind';
  return {
    check: 'clock',
    ok,
    detail: ok ? 'as that of the provider' : `${Math.abs(off)} s ${side} the provider: set the clock`,
  };
}
