/** A real object store with an S3 interface: OpenStack Swift, with one replica in a temporary folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as interval } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Target } from '../../daemon/home/object-store-target.ts';
import { freePort } from './free-port.ts';
import { needs } from './needs.ts';

const servers = ['account', 'container', 'object'] as const;

export const swiftPrograms = ['swift-proxy-server', ...servers.map(name => `swift-${name}-server`)];

/** `describe` for tests that need the object store. */
export const withSwift = needs(swiftPrograms, 'swift-proxy swift-account swift-container swift-object');

export interface Swift {
  readonly endpoint: string;
  /** Environment of a process that stores its files here. */
  readonly env: Readonly<Record<string, string>>;
  /** A new bucket, and the place below a prefix in it. */
  bucket(): Promise<S3Target>;
  /** Ends the part that clients talk to; `resume` starts it again on the same port. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** Debian's Swift belongs to Debian's Python, whatever `python3` is in the path. */
const ringScript = `
import sys
from swift.common.ring import RingBuilder
folder = sys.argv[1]
for name, port in zip(('account', 'container', 'object'), sys.argv[2:]):
    ring = RingBuilder(4, 1, 1)
    ring.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'd1', 'weight': 1})
    ring.rebalance()
    ring.get_ring().save('%s/%s.ring.gz' % (folder, name))
`;

export async function startSwift(): Promise<Swift> {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-swift-'));
  await mkdir(join(home, 'node/d1'), { recursive: true });
  const proxyPort = await freePort(4);
  const ports = [proxyPort + 1, proxyPort + 2, proxyPort + 3];
  execFileSync('/usr/bin/python3', ['-W', 'ignore', '-c', ringScript, home, ...ports.map(String)], { stdio: 'pipe' });
  const common = `user = ${userInfo().username}\nswift_dir = ${home}\nworkers = 0\nlog_address = ${home}/none\nbind_ip = 127.0.0.1\n`;
  await writeFile(
    join(home, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n',
  );
  for (const [i, name] of servers.entries())
    await writeFile(
      join(home, `${name}.conf`),
      `[DEFAULT]\n${common}bind_port = ${ports[i]}\ndevices = ${home}/node\nmount_check = false\n[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`,
    );
  await writeFile(join(home, 'proxy.conf'), `[DEFAULT]\n${common}bind_port = ${proxyPort}\n${proxyPipeline}`);
  const start = (name: string) =>
    spawn(`/usr/bin/swift-${name}-server`, [join(home, `${name}.conf`)], {
      stdio: 'ignore',
      env: { ...process.env, PYTHONWARNINGS: 'ignore' },
    });
  const backends = servers.map(start);
  const endpoint = `http://127.0.0.1:${proxyPort}`;
  let proxy = start('proxy');
  await answers(endpoint);
  await Promise.all(ports.map(port => answers(`http://127.0.0.1:${port}`)));
  let buckets = 0;
  return {
    endpoint,
    env: { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    async bucket() {
      const bucket = `files-${++buckets}`;
      const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
      return { bucket, prefix: 'registry/', endpoint, region: 'us-east-1', credentials };
    },
    halt: () => ended(proxy),
    async resume() {
      proxy = start('proxy');
      await answers(endpoint);
    },
    async stop() {
      await Promise.all([proxy, ...backends].map(ended));
      await rm(home, { recursive: true, force: true });
    },
  };
}

const proxyPipeline = `
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
`;

/** Resolves when something answers there; between two attempts the servers have the processor. The caller's test has a time limit. */
async function answers(url: string): Promise<void> {
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  )
    await interval(50);
}

async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exit = once(process, 'exit');
  process.kill('SIGKILL');
  await exit;
}
