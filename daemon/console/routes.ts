/** The console for browsers. Its pages call the interface like any other client; the daemon only serves the files. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ConsoleLanguage, consoleLanguages, consolePath, languageCookie } from '../../src/contract/values.ts';
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
  holds: `${consoleLanguages[0]}.html.br`,
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
    const name = request.params.name || `${languageOf(request.headers)}.html`;
    const extension = /^[A-Za-z0-9_-]+\.(html|js|css|woff2)$/.exec(name)?.[1] as keyof typeof types | undefined;
    const file = extension && (await readFor(request.headers['accept-encoding'], name));
    if (!extension || !file) return reply.callNotFound();
    if (file.encoding) reply.header('content-encoding', file.encoding);
    reply.header('vary', request.params.name ? 'accept-encoding' : 'accept-encoding, accept-language, cookie');
    reply.header('content-security-policy', policy).header('cross-origin-opener-policy', 'same-origin');
    reply.header('cross-origin-resource-policy', 'same-origin');
    // The other names have the hash of their content.
    return sendPage(request, reply, types[extension], file.page, extension === 'html' ? 'no-cache' : immutable);
  });
}

/** A file in the smallest form that the client accepts; null if there is none of this name. */
async function readFor(accepted: string | undefined, name: string): Promise<ConsoleFile | null> {
  for (const { encoding, suffix } of encodings) {
    if (!acceptedBy(accepted).includes(encoding)) continue;
    // Small files have no compressed form.
    const page = await pageOfFile(folder, name + suffix).catch(() => null);
    if (page) return { page, encoding };
  }
  const page = await pageOfFile(folder, name).catch(() => null);
  return page && { page, encoding: null };
}

/** The language that the person has chosen, else the first of the browser's that the console has. */
function languageOf({ cookie = '', 'accept-language': languages }: FastifyRequest['headers']): ConsoleLanguage {
  const chosen = cookie.split(/; */).map(pair => pair.split('='));
  const wanted = [
    ...chosen.filter(([name]) => name === languageCookie).map(([, value]) => value),
    ...acceptedBy(languages).map(name => name.split('-')[0]),
  ];
  return wanted.map(name => consoleLanguages.find(language => language === name)).find(Boolean) ?? consoleLanguages[0];
}

/** The names in a header such as Accept-Encoding, in lower case, those that the client likes most first; none with the weight 0. */
function acceptedBy(header = ''): string[] {
  const names = header.split(',').map(each => {
    const [name = '', ...parameters] = each.split(';').map(part => part.trim().toLowerCase());
    const weight = parameters.map(parameter => /^q=([01](?:\.\d*)?)$/.exec(parameter)?.[1]).find(Boolean);
    return { name, weight: Number(weight ?? 1) };
  });
  const liked = names.filter(({ weight }) => weight > 0);
  return liked.toSorted((a, b) => b.weight - a.weight).map(({ name }) => name);
}
