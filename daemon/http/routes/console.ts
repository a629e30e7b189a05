/** The console for browsers. Its pages call the interface like any other client; the daemon only serves the files. */
import type { FastifyInstance } from 'fastify';
import { consolePath } from '../../../src/contract/values.ts';
import { type CarriedFolder, readCarried } from '../../carried-files.ts';
import { pagePolicy, sendPage } from './pages.ts';

/** No text becomes markup or code. */
const policy = `${pagePolicy}; require-trusted-types-for 'script'; trusted-types 'none'`;

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
} as const;

/** When the daemon runs from its sources, these are the files of the last build. */
const folder: CarriedFolder = {
  name: 'console',
  places: ['console', 'dist/console'],
  holds: 'console.js',
  contents: 'the console',
};

/** Adds the page of the console and its files. */
export function consoleRoutes(app: FastifyInstance): void {
  app.get(consolePath.slice(0, -1), (_request, reply) => reply.redirect(consolePath));
  app.get<{ Params: { name: string } }>(`${consolePath}:name`, async (request, reply) => {
    const name = request.params.name || 'index.html';
    const extension = /^[A-Za-z0-9_-]+\.(html|js|css)$/.exec(name)?.[1] as keyof typeof types | undefined;
    const content = extension && (await readCarried(folder, name).catch(() => null));
    if (!extension || !content) return reply.callNotFound();
    reply.header('content-security-policy', policy).header('cross-origin-opener-policy', 'same-origin');
    reply.header('cross-origin-resource-policy', 'same-origin');
    return sendPage(request, reply, types[extension], content);
  });
}
