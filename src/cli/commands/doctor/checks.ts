/** The checks of `doctor`. They start and change nothing. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { Fault, systemWords } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { isNodeSupported, leastNode } from '../../framework/version.ts';
import { daemonMissing, findDaemon, healthAt } from '../../session/local-daemon.ts';
import { addressesOf, isLocalServer } from '../../settings/settings.ts';
import { safe } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';

type State = 'ok' | 'warning' | 'failed';

/** `fix` is what to do about it; null if nothing has to be done. */
export interface Check {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
  readonly fix: string | null;
}

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
  return {
    name: 'node',
    state: isNodeSupported(process.versions.node) ? 'ok' : 'failed',
    detail: `${process.versions.node} on ${process.platform} ${process.arch}`,
    fix: `install Node ${leastNode} or later`,
  };
}

function homeCheck(home: string): Check {
  try {
    if (!existsSync(home)) {
      checkCreatable(dirname(home));
      return { name: 'home', state: 'ok', detail: `${home} (created at the first start)`, fix: null };
    }
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = process.platform !== 'win32' && (statSync(home).mode & 0o077) !== 0;
    return open
      ? { name: 'home', state: 'warning', detail: `other users can read ${home}`, fix: `chmod 700 ${home}` }
      : { name: 'home', state: 'ok', detail: home, fix: null };
  } catch (error) {
    return {
      name: 'home',
      state: 'failed',
      detail: `${home} cannot be used: ${systemWords(error)}`,
      fix: 'name another folder with --home DIR or DEVMGR_HOME',
    };
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
      return { name: 'daemon', state: 'failed', detail: what, fix };
    }
    const { health, url, pid } = found;
    const detail = `${url}, pid ${pid}, version ${health.version}`;
    if (health.ready && health.status === 'ok') return { name: 'daemon', state: 'ok', detail, fix: null };
    const why = health.reason ? `: ${health.reason}` : '';
    const fix = `more about it: devmgr daemon ${why === '' ? 'logs' : 'status'}`;
    return { name: 'daemon', state: 'failed', detail: `${detail}: not ready${why}`, fix };
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
  if (differ !== null)
    return [...checks, { name: 'server', state: 'failed', detail: differ.message, fix: differ.hint }];
  // The others answer, so commands work.
  return checks.map(check => (check.state === 'failed' ? { ...check, state: 'warning' } : check));
}

async function addressCheck(registry: Client, address: string, signal: AbortSignal): Promise<Check> {
  try {
    const health = await registry.call('getHealth', {});
    const detail = `${address}, ${health.service} ${health.version}`;
    return {
      name: 'server',
      state: health.ready ? 'ok' : 'failed',
      detail,
      fix: health.ready ? null : 'the operator of the server should check its log',
    };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'interrupted') throw error;
    const alive = await healthAt(address, signal);
    const words = error instanceof Error ? error.message : String(error);
    const fix = error instanceof Fault ? error.hint : null;
    return {
      name: 'server',
      state: 'failed',
      detail: words,
      fix: alive ? 'pass the certificate of its authority with --ca FILE' : (fix ?? 'check the address: --server URL'),
    };
  }
}

async function loginCheck({ registry, settings, loginLine }: Context): Promise<Check> {
  const logIn = settings.token === null ? loginLine : 'unset or replace DEVMGR_TOKEN';
  try {
    const me = await registry.call('getOwnUser');
    const from = settings.token === null ? '' : ', from DEVMGR_TOKEN';
    return { name: 'login', state: 'ok', detail: `${me.username} (${me.role})${from}`, fix: null };
  } catch (error) {
    if (isServerRefusal(error) || (error instanceof Fault && error.kind === 'login'))
      return { name: 'login', state: 'warning', detail: error.message, fix: logIn };
    throw error;
  }
}

async function hardwareChecks(context: Context): Promise<Check[]> {
  try {
    const { list, drivers } = await context.hardware.call('listKeys');
    const checks = drivers.map((driver): Check => {
      const [detail, ...rest] = driver.detail.split('\n');
      return {
        name: safe(driver.name),
        state: driver.state === 'ready' ? 'ok' : 'warning',
        detail: detail ?? '',
        fix: rest.join('\n') || null,
      };
    });
    for (const key of list)
      checks.push({
        name: 'key',
        state: key.problem === null ? 'ok' : 'warning',
        detail: `${[key.deviceType, key.serialNumber ?? 'no readable serial', key.manufacturer, key.model].filter(Boolean).join('  ')}, attached ${timeAndDistance(key.attachedAt)}${key.simulated ? ', simulated' : ''}`,
        fix: key.problem,
      });
    return checks;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'interrupted') throw error;
    const words = error instanceof Error ? error.message : String(error);
    return [
      {
        name: 'hardware',
        state: 'warning',
        detail: `the attached keys cannot be listed: ${words}`,
        fix: error instanceof Fault ? error.hint : context.loginLine,
      },
    ];
  }
}
