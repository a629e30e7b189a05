import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { downloadedBytes } from '../../client/download.ts';
import { Unreachable } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, systemCode, systemWords, usage } from '../../fault.ts';
import { present } from '../../present.ts';
import { isReaderGone, readerGone } from '../../terminal/io.ts';
import { safe } from '../../terminal/text.ts';
import { bytes } from '../../terminal/when.ts';

/** Downloads a package and compares its SHA-256. A damaged or incomplete file is deleted. */
export const appsDownload = command({
  description: 'An existing file is overwritten only with --force. A damaged download is deleted.',
  args: [{ name: 'VERSION_ID', help: 'id of the version, such as APP-1' }],
  flags: {
    out: { value: 'FILE', short: 'o', offer: 'file', help: 'file or folder to write to; - is standard output' },
    force: { help: 'overwrite an existing file' },
  },
  examples: [
    { does: 'under its own name', line: 'apps download APP-1' },
    { does: 'into a pipe', line: 'apps download APP-1 --out - | sha256sum' },
  ],
  async run({ args, flags }, context) {
    const app = await context.registry.call('showApp', { params: { versionId: args[0]! } });
    if (flags.out === '-') {
      if (context.globals.json) throw usage('--out - and --json both write to standard output');
      await fetchTo(context, app, context.io.stdout, false);
      return;
    }
    const file = targetOf(flags.out, app.fileName);
    if (existsSync(file) && !flags.force)
      throw usage(`${file} already exists`, 'name another file with --out, or add --force');
    const aside = `${file}.${process.pid}.part`;
    try {
      await fetchTo(context, app, createWriteStream(aside, { flags: 'wx' }), true);
      renameSync(aside, file);
    } catch (error) {
      rmSync(aside, { force: true });
      throw systemCode(error) && !(error instanceof Fault)
        ? new Fault('failure', `cannot write ${file}: ${systemWords(error)}`)
        : error;
    }
    await present(context, {
      data: { ...app, file },
      id: file,
      title: `${safe(app.versionId)} is in ${safe(file)}`,
      rows: [
        ['size', bytes(app.fileSize)],
        ['SHA-256', `${safe(app.sha256)} (checked)`],
      ],
    });
  },
});

/** The server chooses the name: only the last part of a path is used. */
function targetOf(out: string | undefined, name: string): string {
  const plain = safe(basename(name.replaceAll('\\', '/')));
  const own = plain === '' || plain === '.' || plain === '..' ? 'package' : plain;
  if (out === undefined) return own;
  return statSync(out, { throwIfNoEntry: false })?.isDirectory() ? join(out, own) : out;
}

interface Package {
  readonly versionId: string;
  readonly fileSize: number;
  readonly sha256: string;
}

/** Resolves when everything written so far is flushed: the program does not wait for it when it exits. */
function flushed(target: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    target.write('', error => (error ? reject(error) : resolve()));
  });
}

/** The bytes of a package. A fault at the end if their digest is not that of the package. */
async function* checkedBytes(context: Context, { versionId, fileSize, sha256 }: Package): AsyncGenerator<Buffer> {
  const { out, registry } = context;
  const { progress } = out;
  const hash = createHash('sha256');
  const onRetry = (text: string) => {
    progress.clear();
    if (out.json) out.trace(text);
    else out.notice(text);
  };
  let received = 0;
  try {
    const download = {
      client: registry,
      operation: 'downloadApp',
      params: { versionId },
      size: fileSize,
      sha256,
    } as const;
    for await (const chunk of downloadedBytes({ ...download, onRetry })) {
      hash.update(chunk);
      received += chunk.length;
      progress.show('Downloading', received, fileSize, bytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Unreachable && received > 0)
      throw new Unreachable(
        `the connection was lost after ${bytes(received)} of ${bytes(fileSize)}`,
        false,
        'try again',
      );
    throw error;
  } finally {
    progress.clear();
  }
  const digest = hash.digest('hex');
  if (digest !== sha256)
    throw new Fault(
      'failure',
      `${versionId} arrived damaged: its SHA-256 is ${digest} and should be ${sha256}`,
      'try again',
    );
}

/** `end` says whether the target is to be ended. */
async function fetchTo(context: Context, app: Package, target: NodeJS.WritableStream, end: boolean): Promise<void> {
  try {
    await pipeline(checkedBytes(context, app), target, { end, signal: context.io.interrupt });
    if (!end) await flushed(target);
  } catch (error) {
    if (context.io.interrupt.aborted) throw new Fault('interrupted', 'interrupted: the download was deleted');
    throw !end && isReaderGone(error) ? readerGone() : error;
  }
}
