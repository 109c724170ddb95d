/// A file that stands in the program itself, without its last line break.
package func embedded(_ resource: [UInt8]) -> String {
  String(decoding: resource.dropLast(), as: UTF8.self)
}
