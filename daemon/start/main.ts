/** The composition root of the daemon: creates the parts, connects them, starts and stops them. */
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { DaemonInfo } from '../../src/contract/local.ts';
import { keepLocalToken } from '../accounts/local-token.ts';
import type { Logger } from '../base/logger.ts';
import { ShutdownStack } from '../base/shutdown.ts';
import { Home } from '../home/home.ts';
import { lockHome } from '../home/lock.ts';
import { SecretsWatch } from '../home/secrets-watch.ts';
import { checkNetwork, checkRole, type DaemonSettings } from '../home/settings.ts';
import { closeServer, listen, readTls, tlsOptions } from '../http/listener.ts';
import type { Readiness } from '../requests/readiness.ts';
import { now, type Start } from './registry.ts';
import { assembleRegistry } from './registry-daemon.ts';
import { assembleStation } from './station.ts';
import { lockIfNew, openStore } from './store-engine.ts';

/** A daemon that accepts requests. */
export interface RunningDaemon {
  readonly url: string;
  /** The first administrator's password if this start has generated it, else null. */
  readonly initialPassword: string | null;
  /** Reads the signing keys and the certificate again. Never rejects: errors are logged, and the previous ones stay in use. */
  reload(): Promise<void>;
  /** Stops the daemon: serves requests until the drain ends, finishes running ones, closes the streams and the store. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a daemon. Rejects with `StartRefused` if it cannot start; then everything that was started is stopped again. */
export async function startDaemon(settings: DaemonSettings, version: string, log: Logger): Promise<RunningDaemon> {
  checkNetwork(settings);
  checkRole(settings);
  const stack = new ShutdownStack();
  try {
    return await start({ settings, version, log, stack, openStore, lockIfNew });
  } catch (error) {
    await stack.unwind(log);
    throw error;
  }
}

async function start(basis: Omit<Start, 'home'>): Promise<RunningDaemon> {
  const { settings, version, log, stack } = basis;
  const home = await Home.open(settings.home, settings.secrets);
  const lock = await lockHome(home);
  stack.add(() => lock.release());
  const assemble = settings.role === 'station' ? assembleStation : assembleRegistry;
  const { app, hub, keys, logins, readiness, firstAdmin, renewKeys } = await assemble({ ...basis, home });
  let extra: readonly Server[] = [];
  stack.add(() => closeServer(app, extra, log));
  await hub.ready();
  const initialPassword = await firstAdmin;
  const localToken = await keepLocalToken(home, logins, now, log);
  stack.add(() => localToken.stop());
  const listening = await listen(app, settings, home.path('socket'), log);
  const { url, socket } = listening;
  extra = listening.extra;
  // Loading the native libraries takes longer than the rest of the start: requests need not wait for it.
  void keys.start();
  stack.add(() => keys.stop());
  await publish(home, infoOf(settings, { url, socket, version, node: app.node }));
  stack.add(() => home.remove('daemonInfo'));
  log.info({ url, socket, version, home: home.dir }, 'listening');
  const renew = async (takeNext: boolean) => {
    await renewKeys(takeNext);
    hub.checkTokens();
    await localToken.renew();
  };
  if (settings.store) {
    const watch = new SecretsWatch({
      home,
      renew: () => renew(false),
      warn: (message, err) => log.error({ err }, message),
    });
    logins.renewWith(() => watch.look());
    stack.add(() => watch.stop());
  }
  let stopping: Promise<void> | undefined;
  return {
    url,
    initialPassword,
    reload: () => reload(() => renew(true), app, settings, log),
    stop: () => (stopping ??= drain(readiness, settings, log).then(() => stack.unwind(log))),
  };
}

async function reload(renew: () => Promise<void>, app: FastifyInstance, settings: DaemonSettings, log: Logger) {
  try {
    await renew();
    const tls = await readTls(settings, log);
    if (tls) (app.server as unknown as TlsServer).setSecureContext(tlsOptions(tls));
    log.info('keys and certificate reloaded');
  } catch (error) {
    log.error({ err: error }, 'keys or certificate could not be reloaded; the previous ones stay in use');
  }
}

/**
 * Serves requests until load balancers have seen that the daemon is not ready. They report nothing to it, so that only time can tell. A
 * second signal during that time ends the process.
 */
async function drain(readiness: Readiness, { drain: seconds }: DaemonSettings, log: Logger): Promise<void> {
  readiness.stopping();
  if (seconds === 0) return;
  log.info({ seconds }, 'not ready; requests are still served');
  await sleep(seconds * 1000);
}

function infoOf(
  { role, store, files, drain }: DaemonSettings,
  listening: Pick<DaemonInfo, 'url' | 'socket' | 'version' | 'node'>,
): DaemonInfo {
  return {
    pid: process.pid,
    ...listening,
    startedAt: new Date(now()).toISOString(),
    role,
    // A URL with a password is refused, so it shows none.
    store: store?.url ?? null,
    files: files ? `s3://${files.bucket}/${files.prefix}` : null,
    drainSeconds: drain,
  };
}

/** Writes where the daemon is, for the command line of the same user. */
async function publish(home: Home, info: DaemonInfo): Promise<void> {
  await home.writeSecret('daemonInfo', `${JSON.stringify(info)}\n`);
}
