/** The language of the page, and forms of its words. */
import { type ConsoleLanguage, consolePath, languageCookie } from '../../src/contract/values.ts';

/** Names of the languages. */
export const languages: Readonly<Record<ConsoleLanguage, string>> = { en: 'English', de: 'Deutsch' };

/** Shows the console in another language, from now on: each language has modules of its own. */
export function speak(language: string): void {
  // The path keeps it from every request to the interface.
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API works only over HTTPS and at localhost.
  document.cookie = `${languageCookie}=${language}; path=${consolePath}; max-age=${365 * 86_400}; samesite=strict`;
  location.reload();
}

/** Words that begin with a capital letter. */
export const capitalized = (words: string): string => words.replace(/^./u, first => first.toLocaleUpperCase());

/** Words of sentences, such as those of states, where each stands alone: in menus and beside boxes. */
export const labels = <N extends string>(words: Readonly<Record<N, string>>): Record<N, string> =>
  Object.fromEntries(Object.entries<string>(words).map(([name, word]) => [name, capitalized(word)])) as Record<
    N,
    string
  >;

/** The names of platforms, which are the same in each language. */
export const platformLabels = { WINDOWS: 'Windows', MACOS: 'macOS', LINUX: 'Linux', ANDROID: 'Android', IOS: 'iOS' };
