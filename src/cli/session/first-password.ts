/** Where the first administrator's password is. Known from the home of this user only; no server is asked. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { daemonSettings } from '../../contract/daemon-settings.ts';
import { homeFiles } from '../../contract/local.ts';
import { isLocalServer, type Settings } from '../settings/settings.ts';

/** Name of the first administrator. The environment can name another one at the first start. */
export const firstAdmin = (env: Readonly<Record<string, string | undefined>>): string =>
  env[daemonSettings.admin.username.variable] || 'admin';

/** The file with the first password; null if it has been changed, or the registry is not the daemon of this home. */
export function firstPasswordFile(settings: Settings): string | null {
  if (!isLocalServer(settings)) return null;
  const file = join(settings.home, homeFiles.initialPassword);
  return existsSync(file) ? file : null;
}
