/**
 * The proxy that the environment names for an address, by the rules of curl: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, of which a name in
 * lower case comes first. Node and undici each read these variables in their own way, and neither reports which proxy it has used.
 */
import { isThisMachine } from '../contract/local.ts';

/** A proxy. */
export interface WebProxy {
  readonly url: URL;
  /** The variable that names it, for texts. */
  readonly variable: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const find = (env: Env, name: string) =>
  [name.toLowerCase(), name]
    .map(variable => ({ variable, value: env[variable]?.trim() ?? '' }))
    .find(({ value }) => value !== '');

/** The proxy for an address; null if it is reached directly, as this machine always is. Throws an Error for any other value. */
export function proxyFor(url: URL, env: Env = process.env): WebProxy | null {
  const found = find(env, url.protocol === 'https:' || url.protocol === 'wss:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (!found || isThisMachine(plain(url.hostname)) || isExcepted(url, find(env, 'NO_PROXY')?.value ?? '')) return null;
  const text = found.value.includes('://') ? found.value : `http://${found.value}`;
  const proxy = URL.parse(text);
  if (proxy === null || !/^https?:$/.test(proxy.protocol) || proxy.hostname === '')
    throw new Error(`${found.variable} is not the address of a proxy: write http://HOST:PORT`);
  return { url: proxy, variable: found.variable };
}

/** The proxy as texts name it: without its password. */
export const proxyWords = ({ url, variable }: WebProxy): string =>
  `the proxy ${url.protocol}//${url.host} (${variable})`;

/** A proxy as Node's agents take it. Throws a TypeError with a code of Node if the agents of this Node would ignore it. */
export function agentEnv(proxy: WebProxy): { readonly HTTP_PROXY: string; readonly HTTPS_PROXY: string } {
  // Node has had the option as long as such agents.
  if (!process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) {
    const words = `Node ${process.versions.node} cannot use ${proxyWords(proxy)}: install Node 22.21, 24.5 or later`;
    throw Object.assign(new TypeError(words), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  }
  const { href } = proxy.url;
  return { HTTP_PROXY: href, HTTPS_PROXY: href };
}

/** The proxy for an address, as texts name it; null without one, and if the environment has an invalid value. */
export function proxyNamed(address: string): string | null {
  try {
    const proxy = proxyFor(new URL(address));
    return proxy && proxyWords(proxy);
  } catch {
    return null;
  }
}

const plain = (host: string): string => host.replace(/^\[|\]$|\.$/g, '').toLowerCase();

/**
 * Entries of NO_PROXY: `*`, a name, which means the names below it too, an address, or a network of IPv4 (CIDR). A name or an address may
 * have a port.
 */
function isExcepted({ hostname, port, protocol }: URL, exceptions: string): boolean {
  const host = plain(hostname);
  const usual = protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
  return exceptions.split(/[\s,]+/).some(entry => {
    if (entry === '') return false;
    if (entry === '*') return true;
    if (entry.includes('/')) return isInside(host, entry);
    const [, name = entry, ofPort] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(entry) ?? [];
    const bare = plain(name).replace(/^\*?\./, '');
    return (host === bare || host.endsWith(`.${bare}`)) && (ofPort === undefined || ofPort === (port || usual));
  });
}

/** Whether an address (IPv4) is in a network (CIDR). */
function isInside(host: string, network: string): boolean {
  const [, base, bits] = /^(\d+(?:\.\d+){3})\/(\d{1,2})$/.exec(network) ?? [];
  if (base === undefined || Number(bits) > 32 || !/^\d+(?:\.\d+){3}$/.test(host)) return false;
  const prefix = (address: string) =>
    Math.floor(address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) / 2 ** (32 - Number(bits)));
  return prefix(host) === prefix(base);
}
