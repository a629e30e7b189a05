/**
 * The words of the console, by page. Here are their types: the build puts the dictionary of a name, in the language of the page, in
 * the place of each import from this file, so that a page loads its own words alone.
 */

export * from './en.ts';
export { common as text } from './en.ts';
