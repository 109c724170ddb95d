/// A point a mechanism over two figures, named beside it.
struct ScatterPlot {
  struct Item {
    var name: String
    var style: String
    var x: Double
    var y: Double
  }

  var title: String
  var subtitle: String
  var x: Axis
  var y: Axis
  var items: [Item]

  /// Curves of one point each.
  var svg: String {
    LinePlot(
      title: title,
      subtitle: subtitle,
      x: x,
      y: y,
      curves: items.map { item in
        LinePlot.Curve(name: item.name, style: item.style, points: [(item.x, item.y)])
      },
      namesAreBeside: true
    ).svg
  }
}
