/** The words of the filter `search`. */
import { personKey } from './person-key.ts';

/** What a word is looked for in. `id`: deviceId and serial number; `name`: the name of the person; `tag`: `name:value` of each tag. */
export type SearchField = 'id' | 'maker' | 'model' | 'user' | 'name' | 'note' | 'tag';

/** A word of a search: a device matches if one of these fields contains it. */
export interface SearchWord {
  /** In NFC and lower case. */
  readonly text: string;
  readonly in: readonly SearchField[];
}

/** The fields of a word without a prefix. */
export const allSearched: readonly SearchField[] = ['id', 'maker', 'model', 'user', 'name', 'note', 'tag'];
const fieldsOf: Readonly<Record<string, readonly SearchField[]>> = {
  maker: ['maker'],
  model: ['model'],
  person: ['user', 'name'],
  tag: ['tag'],
};

/** A prefix, then text in quotation marks, whose last one may be missing, or text without a space. */
const part = /(?:(maker|model|person|tag):)?(?:"([^"]*)"?|([^\s"]\S*)?)/g;

/** The words of a search; a word without text is left out. */
export const searchWords = (search: string): SearchWord[] =>
  [...personKey(search).matchAll(part)].flatMap(([, prefix = '', quoted, plain]) => {
    const text = (quoted ?? plain ?? '').trim();
    return text === '' ? [] : [{ text, in: fieldsOf[prefix] ?? allSearched }];
  });
