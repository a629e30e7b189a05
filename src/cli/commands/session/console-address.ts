/** Where people find the console. */
import { consolePath } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';

/** The address of the console for a browser. Browsers use security keys at names only, so this machine is `localhost`. */
export async function consoleAddress(registry: Pick<Client, 'address'>): Promise<string> {
  const page = new URL(consolePath, await registry.address());
  if (page.hostname === '127.0.0.1' || page.hostname === '[::1]') page.hostname = 'localhost';
  return page.href;
}
