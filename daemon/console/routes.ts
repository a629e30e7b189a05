/** The console for browsers. Its pages call the interface like any other client; the daemon only serves the files. */
import type { FastifyInstance } from 'fastify';
import { consolePath } from '../../src/contract/values.ts';
import type { CarriedFolder } from '../base/carried-files.ts';
import { type Page, pageOfFile, pagePolicy, sendPage } from '../http/routes/pages.ts';

/** No text becomes markup or code. */
const policy = `${pagePolicy}; font-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'`;

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
} as const;

/** When the daemon runs from its sources, these are the files of the last build. */
const folder: CarriedFolder = {
  name: 'console',
  places: ['console', 'dist/console'],
  // Not index.html: the sources have it, too.
  holds: 'index.html.br',
  contents: 'the console',
};

const immutable = 'public, max-age=31536000, immutable';

/** The compressed forms that the build makes, the smallest first. */
const encodings = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** Response to a client. */
interface ConsoleFile {
  readonly page: Page;
  /** Null: as it is. */
  readonly encoding: (typeof encodings)[number]['encoding'] | null;
}

/** Adds the page of the console and its files. */
export function consoleRoutes(app: FastifyInstance): void {
  app.get(consolePath.slice(0, -1), (_request, reply) => reply.redirect(consolePath));
  app.get<{ Params: { name: string } }>(`${consolePath}:name`, async (request, reply) => {
    const name = request.params.name || 'index.html';
    const extension = /^[A-Za-z0-9_-]+\.(html|js|css|woff2)$/.exec(name)?.[1] as keyof typeof types | undefined;
    const file = extension && (await readFor(request.headers['accept-encoding'], name));
    if (!extension || !file) return reply.callNotFound();
    if (file.encoding) reply.header('content-encoding', file.encoding);
    reply.header('vary', 'accept-encoding');
    reply.header('content-security-policy', policy).header('cross-origin-opener-policy', 'same-origin');
    reply.header('cross-origin-resource-policy', 'same-origin');
    // The other names have the hash of their content.
    return sendPage(request, reply, types[extension], file.page, extension === 'html' ? 'no-cache' : immutable);
  });
}

/** A file in the smallest form that the client accepts; null if there is none of this name. */
async function readFor(accepted: string | undefined, name: string): Promise<ConsoleFile | null> {
  for (const { encoding, suffix } of encodings) {
    if (!isAccepted(accepted, encoding)) continue;
    // Small files have no compressed form.
    const page = await pageOfFile(folder, name + suffix).catch(() => null);
    if (page) return { page, encoding };
  }
  const page = await pageOfFile(folder, name).catch(() => null);
  return page && { page, encoding: null };
}

/** Whether the header Accept-Encoding names an encoding, and not with the weight 0. */
const isAccepted = (accepted = '', encoding: string): boolean =>
  accepted.split(',').some(each => {
    const [name = '', ...parameters] = each.split(';').map(part => part.trim().toLowerCase());
    return name === encoding && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
  });
