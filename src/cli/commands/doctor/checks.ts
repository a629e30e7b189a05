/** The checks of `doctor`. They start and change nothing. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataOf } from '../../../contract/define.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { Routes } from '../../../contract/routes.ts';
import { proxyNamed } from '../../../delivery/proxies.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { errorWords, Fault, isFault, systemWords } from '../../fault.ts';
import { type Context, commandLine } from '../../framework/context.ts';
import { isNodeSupported, leastNode } from '../../framework/version.ts';
import { daemonMissing, findDaemon, healthAt } from '../../session/local-daemon.ts';
import { addressesOf, isLocalServer } from '../../settings/settings.ts';
import { safe } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';
import { usbHint, usbProblems } from './usb.ts';

type State = 'ok' | 'warning' | 'failed';

/** `fix` is what to do about it; null if nothing has to be done. */
export interface Check {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
  readonly fix: string | null;
}

/** A finding. */
export const check = (name: string, state: State, detail: string, fix: string | null = null): Check => ({
  name,
  state,
  detail,
  fix,
});

/** Runs every check; those that need the server only if it can be reached. */
export async function examine(context: Context): Promise<readonly Check[]> {
  const checks: Check[] = [nodeCheck(), homeCheck(context.settings.home)];
  const several = addressesOf(context.settings.server);
  const servers = several.length > 1 ? await serverChecks(context, several) : [await serverCheck(context)];
  checks.push(...servers);
  if (servers.every(({ state }) => state !== 'failed'))
    checks.push(await loginCheck(context), ...(await hardwareChecks(context)));
  return checks;
}

function nodeCheck(): Check {
  const { node } = process.versions;
  const detail = `${node} on ${process.platform} ${process.arch}`;
  return check('node', isNodeSupported(node) ? 'ok' : 'failed', detail, `install Node ${leastNode} or later`);
}

function homeCheck(home: string): Check {
  try {
    if (!existsSync(home)) {
      checkCreatable(dirname(home));
      return check('home', 'ok', `${home} (created at the first start)`);
    }
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = process.platform !== 'win32' && (statSync(home).mode & 0o077) !== 0;
    return open
      ? check('home', 'warning', `other users can read ${home}`, `chmod 700 ${home}`)
      : check('home', 'ok', home);
  } catch (error) {
    const why = `${home} cannot be used: ${systemWords(error)}`;
    return check('home', 'failed', why, 'name another folder with --home DIR or DEVMGR_HOME');
  }
}

/** Throws if nothing can be created in the nearest existing folder. */
function checkCreatable(folder: string): void {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is not a folder`);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`nothing can be created in ${nearest} (${systemWords(error)})`);
  }
}

async function serverCheck({ settings, io, registry }: Context): Promise<Check> {
  if (isLocalServer(settings)) {
    const found = await findDaemon(settings.home, io.interrupt);
    if (!found) {
      const { what, fix } = daemonMissing(settings.home);
      return check('daemon', 'failed', what, fix);
    }
    const { health, url, pid } = found;
    const detail = `${url}, pid ${pid}, version ${health.version}`;
    if (health.ready && health.status === 'ok') return check('daemon', 'ok', detail);
    const why = health.reason ? `: ${health.reason}` : '';
    const fix = `more about it: devmgr daemon ${why === '' ? 'logs' : 'status'}`;
    return check('daemon', 'failed', `${detail}: not ready${why}`, fix);
  }
  return addressCheck(registry, settings.server ?? '', io.interrupt);
}

/** One for each address. All that answer must be the same registry. */
async function serverChecks(context: Context, addresses: readonly string[]): Promise<readonly Check[]> {
  const { registry, io } = context;
  const checks = await Promise.all(addresses.map(address => addressCheck(registry.at(address), address, io.interrupt)));
  if (!checks.some(({ state }) => state === 'ok')) return checks;
  const { sameRegistry } = await import('../../framework/several-servers.ts');
  const differ = await sameRegistry(context);
  if (differ !== null) return [...checks, check('server', 'failed', differ.message, differ.hint)];
  // The others answer, so commands work.
  return checks.map(found => (found.state === 'failed' ? { ...found, state: 'warning' } : found));
}

async function addressCheck(registry: Client, address: string, signal: AbortSignal): Promise<Check> {
  try {
    const health = await registry.call('getHealth', {});
    const proxy = proxyNamed(address);
    const detail = `${address}, ${health.service} ${health.version}${proxy ? `, through ${proxy}` : ''}`;
    if (health.ready) return check('server', 'ok', detail);
    return check('server', 'failed', detail, 'the operator of the server should check its log');
  } catch (error) {
    if (isFault(error, 'interrupted')) throw error;
    const alive = await healthAt(address, signal);
    const fix = (error instanceof Fault && error.hint) || 'check the address: --server URL';
    const untrusted = 'pass the certificate of its authority with --ca FILE';
    return check('server', 'failed', errorWords(error), alive ? untrusted : fix);
  }
}

async function loginCheck(context: Context): Promise<Check> {
  const { registry, settings } = context;
  const logIn = settings.token === null ? commandLine(context, 'login') : 'unset or replace DEVMGR_TOKEN';
  try {
    const me = await registry.call('getOwnUser');
    const from = settings.token === null ? '' : ', from DEVMGR_TOKEN';
    return check('login', 'ok', `${me.username} (${me.role})${from}`);
  } catch (error) {
    if (isServerRefusal(error) || isFault(error, 'login')) return check('login', 'warning', error.message, logIn);
    throw error;
  }
}

async function hardwareChecks(context: Context): Promise<Check[]> {
  try {
    const { list, drivers } = await context.hardware.call('listKeys');
    // Under Wine, drive Z: has /dev/kmsg, and a read of it waits for the next message.
    const problems = process.platform === 'linux' ? await usbProblems() : [];
    const usb = problems.map(problem => check('usb', 'warning', problem, usbHint));
    return [...drivers.map(driverCheck), ...usb, ...list.map(keyCheck)];
  } catch (error) {
    if (isFault(error, 'interrupted')) throw error;
    const why = `the attached keys cannot be listed: ${errorWords(error)}`;
    return [check('hardware', 'warning', why, error instanceof Fault ? error.hint : commandLine(context, 'login'))];
  }
}

function driverCheck({ name, state, detail }: DataOf<Routes['listKeys']>['drivers'][number]): Check {
  const [first = '', ...rest] = detail.split('\n');
  return check(safe(name), state === 'ready' ? 'ok' : 'warning', first, rest.join('\n') || null);
}

function keyCheck({ deviceType, serialNumber, manufacturer, model, attachedAt, simulated, problem }: Key): Check {
  const words = [deviceType, serialNumber ?? 'no readable serial', manufacturer, model].filter(Boolean).join('  ');
  const detail = `${words}, attached ${timeAndDistance(attachedAt)}${simulated ? ', simulated' : ''}`;
  return check('key', problem === null ? 'ok' : 'warning', detail, problem);
}
