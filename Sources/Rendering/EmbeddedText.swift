/// A file of this room that stands in the program itself, without its last line break.
func embedded(_ resource: [UInt8]) -> String {
  String(decoding: resource.dropLast(), as: UTF8.self)
}
