/** The words in the language of the person. */
import { computed, effect, signal } from '@preact/signals';
import { preferences } from '../preferences.ts';

/** The languages of the console. */
export const languages = { en: 'English', de: 'Deutsch' } as const;
/** A language of the console. */
export type Language = keyof typeof languages;

const isLanguage = (name: string | undefined): name is Language => name !== undefined && Object.hasOwn(languages, name);

/** The chosen language, else the first of the browser's that the console has. */
export const language = computed<Language>(() => {
  const chosen = preferences.value.language;
  const offered = navigator.languages.map(name => name.split('-')[0]);
  return isLanguage(chosen) ? chosen : (offered.find(isLanguage) ?? 'en');
});

/** Load the first words of each dictionary that has none. A failure leaves its function here, so that it can be called again. */
const missing = new Set<() => Promise<void>>();

/** The words of the console, by page. */
type Dictionary = typeof import('./en.ts');

/**
 * The words of a page, in the language of the person; what reads an entry follows changes of the language. What shows them waits for `wordsLoaded`;
 * after a change of the language the former words stay until the others are there.
 */
export function dictionary<N extends keyof Dictionary>(
  name: N,
  files: Readonly<Record<Language, () => Promise<Pick<Dictionary, N>>>>,
): Dictionary[N] {
  const words = signal<Dictionary[N] | null>(null);
  const loadIn = async (wanted: Language) => {
    const loaded = await files[wanted]();
    // Until those of the present language are there, words of another one are better than none.
    if (language.peek() === wanted || words.peek() === null) words.value = loaded[name];
    missing.delete(loadFirst);
  };
  const loadFirst = () => loadIn(language.peek());
  missing.add(loadFirst);
  effect(() => {
    // `wordsLoaded` reports a failure.
    loadIn(language.value).catch(() => {});
  });
  return new Proxy({} as Dictionary[N], { get: (_, entry) => words.value?.[entry as keyof Dictionary[N]] });
}

/** Resolves when every dictionary has words. Rejects if the daemon no longer has those of this build. */
export const wordsLoaded = (): Promise<unknown> => Promise.all([...missing].map(load => load()));

/** Loads a part of the console, and its words. */
export async function loadWithWords<T>(load: () => Promise<T>): Promise<T> {
  const part = await load();
  await wordsLoaded();
  return part;
}

/** Words that begin with a capital letter. */
export const capitalized = (words: string): string => words.replace(/^./u, first => first.toLocaleUpperCase());

/** Words of sentences, such as those of states, where each stands alone: in menus and beside boxes. */
export const labels = <N extends string>(words: Readonly<Record<N, string>>): Record<N, string> =>
  Object.fromEntries(Object.entries<string>(words).map(([name, word]) => [name, capitalized(word)])) as Record<
    N,
    string
  >;

/** The words that every page needs. */
export const text = dictionary('common', { en: () => import('./en.ts'), de: () => import('./de.ts') });

effect(() => {
  document.documentElement.lang = text.code ?? language.value;
});
