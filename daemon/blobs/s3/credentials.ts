/** The keys of an object store: from the environment, or from a file in the format that the tools of AWS share. */
import type { Env } from '../../../src/contract/local.ts';
import { privateText } from '../../private-file.ts';
import { StartRefused } from '../../start-refused.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary keys. */
  readonly sessionToken?: string;
}

export const KEY_ID = 'AWS_ACCESS_KEY_ID';
export const SECRET = 'AWS_SECRET_ACCESS_KEY';
const FILE = 'AWS_SHARED_CREDENTIALS_FILE';

/**
 * The keys in the environment, else those of the file that `AWS_SHARED_CREDENTIALS_FILE` names. `source` is what names the store. Throws
 * `StartRefused` if no keys are found, or if others can read the file.
 */
export function credentialsOf(env: Env, source: string): Credentials {
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
