/**
 * Another page that has opened this tab keeps a handle that navigates it, and the name by which it finds it again. The daemon's
 * `Cross-Origin-Opener-Policy` cuts both. Browsers ignore that header on plain HTTP to another machine, so this part does what it can
 * before the first button that approves something is shown.
 */

/** Marks the tab, also after a reload: it has no opener then, and the other page may still have its handle. */
const MARK = 'devmgr.opened';

if (window.opener) {
  sessionStorage[MARK] = 1;
  window.opener = null;
}
window.name = '';

/** Whether another page has opened this tab and may still navigate it. */
export const isOpenedByOther = MARK in sessionStorage;
