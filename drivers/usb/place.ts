/** Where a device hangs on the USB, as lsusb counts. A number is given again only after the bus has used up all others. */
export interface UsbPlace {
  readonly bus: number;
  readonly address: number;
}
