/// What is counted of real work, beside the trace: by the server, on disk, in the database.
package enum WorkFigure: String, CaseIterable, Hashable, Sendable {
  /// Tasks for which the cache had the image.
  case hits
  /// Tasks that waited for the fetch of another.
  case joins
  /// Tasks whose image had to be fetched.
  case misses
  /// Different images that the server sent to the last byte.
  case imagesServed = "images_served"
  /// How often it sent the one that it sent most often.
  case mostTransfers = "most_transfers"
  /// The most requests that the server had at once, answered or waiting for it, those cancelled left out.
  case peakRequests = "peak_requests"
  /// Requests that the server turned away because it was full.
  case requestsRefused = "requests_refused"
  /// The most connections that were open at once, in use or not.
  case peakConnections = "peak_connections"
  case bytesServed = "bytes_served"
  case bytesKept = "bytes_kept"
  case filesKept = "files_kept"
  /// Files that were cut off, and may be gone on with.
  case partialFiles = "partial_files"
  case reads
  case writes
  case connectionsOpened = "connections_opened"
  /// Writes that were acknowledged and are not in the database.
  case writesLost = "writes_lost"

  /// For people: `peak requests`.
  package var words: String { rawValue.split(separator: "_").joined(separator: " ") }
}
