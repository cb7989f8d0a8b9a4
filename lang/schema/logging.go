package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// The modes of logging. LogsOfNodes is the default.
const (
	LogsNowhere = "none"
	LogsOfNodes = "node"
	LogsOfPods  = "sidecar"
)

// LoggingType describes the block `logging` of the cloud.
var LoggingType = &BlockType{
	Name: "logging", Single: true,
	Doc: "Sends the logs of all services to stores. kolla makes the service `logging` of the definition `collector`; [Logging](../logging.md) says what each mode collects and costs. Without the block, or with mode = \"none\", logs are only where `kolla logs` finds them.",
	Example: `cloud "prod" {
  release = "2025.1"

  logging {
    mode      = "sidecar"
    collector = "rsyslog"
    image     = "registry.example.org/rsyslog:8"
    buffer    = "2Gi"
    volume    = "512Mi"

    target "site" {
      type     = "elasticsearch"
      url      = "https://logs.example.org:9200"
      index    = "cloud"
      username = "kolla"
      password = secret.logs.value
      ca       = "-----BEGIN CERTIFICATE-----\n..."
    }

    target "archive" {
      type = "opensearch"
      url  = "http://archive.example.org:9200"
    }
  }
}

secret "logs" {}
`,
	Attributes: []Attribute{
		{Name: "mode", Type: TypeLiteral, Default: LogsOfNodes, OneOf: []string{LogsOfNodes, LogsOfPods, LogsNowhere}, Doc: "How logs are collected. node: a pod on each node reads what all containers of the cloud print. sidecar: each pod has a collector of its own, which reads files that the service writes to a volume of both. none: not at all. The value must be literal."},
		{Name: "collector", Type: TypeLiteral, Default: "fluentd", Doc: "Name of the definition of the collector: fluentd, rsyslog, or [one of your own](../logging.md#a-collector-of-your-own). The value must be literal."},
		{Name: "image", Type: TypeString, Form: forms.Plain, Doc: "Image of the collector, as `image` of a workload. By default it is Kolla's; rsyslog needs one, because Kolla has none."},
		{Name: "buffer", Type: TypeString, Form: forms.Quantity, Doc: "Size on disk, for each collector and target, of the records that the target has not taken yet; by default 1Gi on a node and 256Mi in a pod. Once it is full, records are lost, and the collector counts them. For loki it is 4Mi at most."},
		{Name: "volume", Type: TypeString, Default: "256Mi", Form: forms.Quantity, Doc: "Size of the volume for the log files of a pod. For the mode sidecar."},
	},
	Blocks: []*BlockType{loggingTargetType},
}

var loggingTargetType = &BlockType{
	Name: "target", Label: "target", LabelForm: forms.Name,
	Doc: "A store that gets all records. With several targets each gets all of them, and none waits for another one.",
	Attributes: []Attribute{
		{Name: "type", Type: TypeString, Default: "opensearch", OneOf: []string{"opensearch", "elasticsearch", "loki"}, Doc: "Kind of the store."},
		{Name: "url", Type: TypeString, Required: true, Form: forms.Plain, Doc: "URL of the store, such as https://logs.example.org:9200, or service.opensearch.url for the cloud's own."},
		{Name: "index", Type: TypeString, Form: forms.Name, Doc: "Beginning of the names of the indices, which end with the date; by default the name of the cloud. The service opensearch deletes old indices of other names only if `indices` has their pattern, and the dashboards show them if `pattern` has it. It has no effect on loki."},
		{Name: "username", Type: TypeString, Form: forms.Plain, Doc: "User of the store, for basic authentication."},
		{Name: "password", Type: TypeText, Doc: "Password of the user."},
		{Name: "ca", Type: TypeString, Doc: "Certificates in PEM of the authorities that a store with https may have its certificate from; by default those of the image."},
	},
}

// logsAttribute says where a container writes its log.
var logsAttribute = Attribute{Name: "logs", Type: TypeString, OneOf: []string{"oslo", "console", "files"}}

const logsDoc = "Where the program writes its log, for the block `logging` of the cloud. oslo: to standard error with oslo.log, which kolla can tell through its environment to write a file too. console: to standard output or error only, so that the mode sidecar does not collect it. files: in the mode sidecar (`cloud.logging`) also to files in /var/log/kolla."
