/**
 * Where the stored files are, from `--files` and the environment, and the keys of the object store, from the environment or a file
 * in the format that the tools of AWS share. The client of the object store is not loaded here.
 */
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { type Env, isLoopbackName } from '../../src/contract/local.ts';
import { privateText } from '../base/private-file.ts';
import { StartRefused } from '../base/start-refused.ts';

/** A place for files in an object store with an S3 interface. */
export interface S3Target {
  readonly bucket: string;
  /** Before the name of each file; empty, or ends with `/`. */
  readonly prefix: string;
  /** Origin of the service; undefined for the one of AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly credentials: Credentials;
}

const example = 's3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION';

/**
 * The place that `text` names, or else `DEVMGR_FILES`; null for the folder in the home, which is the default and `file:`.
 * `insecureHttp` allows an endpoint on a network without TLS. Throws `StartRefused`.
 */
export function filesTarget(text: string | null, env: Env, insecureHttp: boolean): S3Target | null {
  const source = text !== null ? '--files' : daemonSettings.files.variable;
  const value = text ?? env[daemonSettings.files.variable] ?? '';
  if (value === '' || value === 'file:') return null;
  const url = URL.parse(value);
  if (url?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname))
    throw malformed(source, `write file: or ${example}`);
  if (url.username || url.password || url.port || url.hash)
    throw malformed(source, `put the keys into ${KEY_ID} and ${SECRET}, and the port into endpoint`);
  const unknown = [...url.searchParams.keys()].find(name => name !== 'endpoint' && name !== 'region');
  if (unknown !== undefined) throw malformed(source, `${unknown} is not one of its parameters: endpoint, region`);
  return {
    bucket: url.hostname,
    prefix: prefixOf(url, source),
    endpoint: endpointOf(url.searchParams.get('endpoint'), source, insecureHttp),
    region: url.searchParams.get('region') || env.AWS_REGION || 'us-east-1',
    credentials: credentialsOf(env, source),
  };
}

function malformed(source: string, hint: string): StartRefused {
  return new StartRefused(2, `${source} is malformed`, hint);
}

function prefixOf({ pathname }: URL, source: string): string {
  const path = pathname.replace(/^\/|\/$/g, '');
  if (!/^[\w.=-]*(?:\/[\w.=-]+)*$/.test(path) || path.length > 512)
    throw malformed(source, 'a prefix has letters, digits, ".", "_", "=", "-" and "/"');
  return path === '' ? '' : `${path}/`;
}

function endpointOf(text: string | null, source: string, insecureHttp: boolean): string | undefined {
  if (text === null || text === '') return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username)
    throw malformed(source, 'write the endpoint like https://HOST:PORT');
  if (url.protocol === 'http:' && !isLoopbackName(url.hostname) && !insecureHttp)
    throw new StartRefused(
      2,
      `${url.origin} is not loopback: files would cross the network unencrypted`,
      'use https, or add --insecure-http where the network is private',
    );
  return url.origin;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary keys. */
  readonly sessionToken?: string;
}

const KEY_ID = 'AWS_ACCESS_KEY_ID';
const SECRET = 'AWS_SECRET_ACCESS_KEY';
const FILE = 'AWS_SHARED_CREDENTIALS_FILE';

/**
 * The keys in the environment, else those of the file that `AWS_SHARED_CREDENTIALS_FILE` names. `source` is what names the store. Throws
 * `StartRefused` if no keys are found, or if others can read the file.
 */
function credentialsOf(env: Env, source: string): Credentials {
  const file = env[FILE];
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (file && !accessKeyId && !secretAccessKey) return credentialsIn(file, env);
  if (!accessKeyId || !secretAccessKey)
    throw refused(
      `${source} names an object store, but its keys are missing`,
      `set ${KEY_ID} and ${SECRET}, or ${FILE}`,
    );
  return credentials(accessKeyId, secretAccessKey, env.AWS_SESSION_TOKEN);
}

function credentialsIn(file: string, env: Env): Credentials {
  const profile = env.AWS_PROFILE || 'default';
  const text = privateText(file, 'keys', env, refused);
  if (text === null) throw refused(`${file} (${FILE}) does not exist`, 'name a file with the keys of the object store');
  const values = sectionOf(text, profile);
  if (values === null)
    throw refused(`${file} has no section [${profile}]`, 'AWS_PROFILE names the section; without it, default');
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = values;
  if (!accessKeyId || !secretAccessKey)
    throw refused(
      `section [${profile}] of ${file} lacks a key`,
      'it needs aws_access_key_id and aws_secret_access_key',
    );
  return credentials(accessKeyId, secretAccessKey, values.aws_session_token);
}

/** Name and value of each line of a section; null if the file does not have it. The last of several lines with one name counts. */
function sectionOf(text: string, wanted: string): Readonly<Record<string, string>> | null {
  let section: string | undefined;
  let values: Record<string, string> | null = null;
  for (const line of text.split(/\r?\n/).map(each => each.trim())) {
    if (line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('[') && line.endsWith(']')) section = line.slice(1, -1).trim();
    if (section !== wanted) continue;
    values ??= {};
    const equals = line.indexOf('=');
    if (equals > 0) values[line.slice(0, equals).trim()] = line.slice(equals + 1).trim();
  }
  return values;
}

const credentials = (accessKeyId: string, secretAccessKey: string, sessionToken?: string): Credentials => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken ? { sessionToken } : {}),
});

const refused = (message: string, hint: string) => new StartRefused(2, message, hint);
