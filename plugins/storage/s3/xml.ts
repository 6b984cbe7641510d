/** The texts of all elements with this name. S3's answers have no nested elements of one name. */
export const elements = (xml: Buffer | string, name: string): readonly string[] =>
  [...xml.toString().matchAll(RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) =>
    text.replaceAll('&amp;', '&'),
  )
