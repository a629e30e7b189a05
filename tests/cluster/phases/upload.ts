/**
 * A file on its way to the object store, and the node killed at every stage of it. Another node of the same registry continues: it has the
 * record and the file, or neither, and takes the upload that its client sends again.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Bucket } from '../../../daemon/files/s3/bucket.ts';
import { PART_BYTES } from '../../../daemon/files/s3/buffers.ts';
import { openS3Blobs } from '../../../daemon/files/s3/s3-blobs.ts';
import type { S3Target } from '../../../daemon/home/object-store-target.ts';
import { adminPassword } from '../../support/daemon.ts';
import { type Chooses, HoldingProxy } from '../../support/holding-proxy.ts';
import { runProgram } from '../../support/program.ts';
import { beginUpload, MiB, type Target } from '../../support/sending.ts';
import { startSwift } from '../../support/swift.ts';
import type { Cluster } from '../cluster.ts';
import { HOST } from '../machine.ts';
import { RegistryNode } from '../registry-node.ts';

/** The most memory of a node that takes four uploads and the rest of a download, one after the other: without a file of 64 MiB in it. */
const MOST_MIB = 176;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Where the upload is held when its node is killed. */
interface Stage {
  readonly name: string;
  readonly when: 'before' | 'after';
  /** The request to the object store that is held; absent for the response to the client. */
  readonly chooses?: Chooses;
  readonly hasRecord: boolean;
  readonly hasFile: boolean;
}

const part =
  (number: number): Chooses =>
  (method, url) =>
    method === 'PUT' && url.searchParams.get('partNumber') === String(number);
const completes: Chooses = (method, url) => method === 'POST' && url.searchParams.has('uploadId');

const stagesOf = (size: number): readonly Stage[] => [
  { name: 'before the first part', when: 'before', chooses: part(1), hasRecord: false, hasFile: false },
  {
    name: 'between two parts',
    when: 'before',
    chooses: part(Math.ceil(size / PART_BYTES / 2)),
    hasRecord: false,
    hasFile: false,
  },
  { name: 'before Complete', when: 'before', chooses: completes, hasRecord: false, hasFile: false },
  { name: 'between Complete and the commit', when: 'after', chooses: completes, hasRecord: false, hasFile: true },
  { name: 'after the commit, before the response', when: 'after', hasRecord: true, hasFile: true },
];

/** A registry with its files in an object store, and two nodes. */
interface Registry {
  readonly target: S3Target;
  readonly store: HoldingProxy;
  readonly nodes: readonly [RegistryNode, RegistryNode];
  readonly query: Cluster['databases']['query'];
}

export async function killInUpload(cluster: Cluster, i: number): Promise<string> {
  const swift = await startSwift();
  try {
    const target = await swift.bucket();
    const store = await HoldingProxy.start(swift.endpoint, HOST);
    const registry = await startRegistry(cluster, i, { target, store, env: swift.env });
    const size = cluster.fileMiB * MiB;
    let orphans = 0;
    const stages = stagesOf(size);
    for (const [done, stage] of stages.entries()) {
      await killAt(registry, stage, `${done + 1}.0.0`, size);
      if (stage.hasFile && !stage.hasRecord) orphans++;
      expectSame(await inBucket(target), done + 1 + orphans, `files after ${stage.name}`);
    }
    await killInDownload(registry, size);
    await expectSwept(registry, stages.length, orphans);
    const memory = Math.max(...registry.nodes.map(node => node.peakMiB()));
    if (memory > MOST_MIB) throw new Error(`a node took ${memory} MiB of memory, more than ${MOST_MIB}`);
    for (const node of registry.nodes) await node.stop();
    await expectChecked(cluster, registry.nodes[0]);
    store.close();
    return `${stages.length} stages of an upload of ${cluster.fileMiB} MiB and a download: each file has its record, ${orphans} without one was removed after a day; ${memory} MiB at most`;
  } finally {
    await swift.stop();
  }
}

async function startRegistry(
  { databases, folder, proxy }: Cluster,
  i: number,
  { target, store, env }: Pick<Registry, 'target' | 'store'> & { readonly env: Readonly<Record<string, string>> },
): Promise<Registry> {
  const name = `files_${i}`;
  await databases.query(
    `CREATE DATABASE ${name} OWNER devmgr TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'`,
    'postgres',
  );
  const files = `s3://${target.bucket}/${target.prefix}?endpoint=${store.url}&region=${target.region}`;
  const settings = { name, env: { ...env, DEVMGR_FILES: files } };
  const node = (number: number) => new RegistryNode(20 + 2 * i + number, folder, proxy, settings);
  const nodes = [node(1), node(2)] as const;
  await nodes[0].init();
  for (const started of nodes) started.start();
  await Promise.all(nodes.map(started => started.ready()));
  return { target, store, nodes, query: sql => databases.query(sql, name) };
}

/** Kills the first node at a stage of an upload. The second one must know of it what it should, and takes it if it is sent again. */
async function killAt({ store, nodes, target }: Registry, stage: Stage, version: string, size: number): Promise<void> {
  const [first, second] = nodes;
  const before = await inBucket(target);
  const clients = await HoldingProxy.start(first.url);
  const held = stage.chooses
    ? store.hold(stage.when, stage.chooses)
    : clients.hold(stage.when, (method, url) => method === 'POST' && url.pathname.endsWith('/upload'));
  const upload = beginUpload({ url: clients.url, token: await login(first) }, version, { size });
  const sent = upload.file(size).then(() => upload.end());
  const early = upload.answered.then(answer => {
    throw new Error(`the upload was answered before it was ${stage.name}: ${JSON.stringify(answer)}`);
  });
  await Promise.race([held, early]);
  await first.kill();
  clients.close();
  await Promise.allSettled([sent, early]);
  const has = (await versionsOf(second)).some(known => known.version === version);
  if (has !== stage.hasRecord) throw new Error(`killed ${stage.name}: the record ${has ? 'is there' : 'is missing'}`);
  expectSame(await inBucket(target), before + (stage.hasFile ? 1 : 0), `files, killed ${stage.name}`);
  if (!has) await uploadTo({ url: second.url, token: await login(second) }, version, size);
  first.start();
  await first.ready();
}

async function uploadTo(target: Target, version: string, size: number): Promise<void> {
  const upload = beginUpload(target, version, { size });
  await upload.file(size);
  upload.end();
  const answer = await upload.answered;
  if (answer.code !== 200) throw new Error(`the upload of ${version} was answered ${JSON.stringify(answer)}`);
}

/** Kills the first node in the middle of a download, which continues at the second one. */
async function killInDownload({ nodes: [first, second] }: Registry, size: number): Promise<void> {
  const version = (await versionsOf(first))[0]!;
  const hash = createHash('sha256');
  let received = 0;
  const begun = await download(first, version, {});
  try {
    for await (const chunk of begun as AsyncIterable<Buffer>) {
      hash.update(chunk);
      received += chunk.length;
      if (received > size / 2) await first.kill();
    }
  } catch (error) {
    if (received >= size) throw error;
  }
  if (received >= size) throw new Error('the download was over before its node was killed');
  const range = { range: `bytes=${received}-`, 'if-range': begun.headers.etag! };
  const rest = await download(second, version, range);
  if (rest.statusCode !== 206) throw new Error(`the rest of the download was answered ${rest.statusCode}`);
  for await (const chunk of rest as AsyncIterable<Buffer>) hash.update(chunk);
  if (hash.digest('hex') !== version.sha256) throw new Error('the downloaded file is not the one that was uploaded');
  first.start();
  await first.ready();
}

async function download(
  node: RegistryNode,
  { versionId }: Version,
  more: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${await login(node)}`, ...more };
  const sent = request(`${node.url}/api/app-versions/${versionId}/download`, { headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** Sweeps keep everything today, and remove what has no record a day later. */
async function expectSwept({ target, query }: Registry, records: number, orphans: number): Promise<void> {
  const known = async () =>
    new Set((await query('SELECT blob FROM app UNION SELECT blob FROM backup')).map(({ blob }) => String(blob)));
  for (const [later, left] of [
    [0, records + orphans],
    [DAY_MS + 60_000, records],
  ] as const) {
    const blobs = await openS3Blobs(target, { now: () => Date.now() + later });
    for (let i = 0; i < 2; i++) await blobs.sweep(known);
    expectSame(await inBucket(target), left, `files ${later === 0 ? 'today' : 'a day later'}`);
  }
  const bucket = new Bucket(target);
  expectSame((await bucket.unfinished()).length, 0, 'unfinished uploads a day later');
  bucket.close();
}

/** `daemon check` reads every file. */
async function expectChecked({ folder }: Cluster, node: RegistryNode): Promise<void> {
  const { code, stdout, stderr } = await runProgram(['daemon', 'check'], { home: `${folder}/home`, env: node.env });
  if (code !== 0) throw new Error(`devmgr daemon check ends with ${code}: ${stdout}${stderr}`);
}

async function inBucket(target: S3Target): Promise<number> {
  const bucket = new Bucket(target);
  let objects = 0;
  for await (const batch of bucket.list()) objects += batch.length;
  bucket.close();
  return objects;
}

function expectSame(found: number, expected: number, what: string): void {
  if (found !== expected) throw new Error(`${found} ${what}, not ${expected}`);
}

interface Version {
  readonly versionId: string;
  readonly version: string;
  readonly sha256: string;
}

async function versionsOf(node: RegistryNode): Promise<readonly Version[]> {
  const headers = { authorization: `Bearer ${await login(node)}` };
  const response = await fetch(`${node.url}/api/app-versions/list`, { headers });
  return ((await response.json()) as { data: { list: readonly Version[] } }).data.list;
}

async function login({ url }: RegistryNode): Promise<string> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  });
  return ((await response.json()) as { data: { token: string } }).data.token;
}
