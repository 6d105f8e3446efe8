// Command gather is a complete backend of the gatherspec protocol, version 2, in one file: the four operators, every
// dtype, and every error with its code and fields. It needs Go 1.18 or later and the standard library only:
//
//	go build -o gather gather.go
//	gatherspec run -- ./gather
//
// Both kinds of gather are one computation here. planGather and planGatherND check what differs between them and say
// where the indexed axes of params are; gather does the rest. P, I, r, q, k and b are as in PROTOCOL.md.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"strings"
)

const (
	mostAxes    = 64      // of a tensor in a message
	outputLimit = 1 << 27 // bytes; for more, the reply could be longer than the 1 << 28 bytes that the runner takes
)

var everyDtype = []string{"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64",
	"f16", "bf16", "f32", "f64", "c64", "c128", "string"}

var elementBytes = map[string]int64{"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8,
	"u64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16,
	"string": 16} // stands for the size of a string where sizes are limited

// An operator has what the backend declares of it, and the checks that are its own.
type operator struct {
	Profile      map[string]string `json:"profile"`
	Dtypes       []string          `json:"dtypes"`
	IndexDtypes  []string          `json:"index_dtypes"`
	Variants     []string          `json:"variants"`
	operands     [2]string         // what the operator's page calls params and indices
	attributes   []string
	plan         func(op operator, P, I tensor, attrs attributes) (plan, *reply)
	leastIndices int64 // the least rank of indices
}

var ofTensorFlow, ofPaddle = [2]string{"params", "indices"}, [2]string{"input", "index"}

// An operand may be a window in a larger buffer.
var windows = []string{"operands=offset"}

var documented = map[string]string{"bad": "error", "negative": "reject"}

var operators = map[string]operator{
	"tf.gather": {documented, everyDtype, []string{"i32", "i64"}, windows,
		ofTensorFlow, []string{"axis", "batch_dims", "validate_indices"}, planGather, 0},
	"tf.gather_nd": {documented, everyDtype, []string{"i32", "i64"}, windows,
		ofTensorFlow, []string{"batch_dims"}, planGatherND, 1},
	"tf.raw_ops.GatherNd": {documented, everyDtype, []string{"i16", "i32", "i64"}, windows,
		ofTensorFlow, nil, planGatherND, 1},
	"paddle.gather_nd": {documented, []string{"bool", "i32", "i64", "f32", "f64"}, []string{"i32", "i64"}, windows,
		ofPaddle, nil, planGatherND, 2},
}

// ---- Messages

type message struct {
	Cmd      string `json:"cmd"`
	Seq      uint64 `json:"seq"`
	Operator string `json:"operator"`
	// By the names that the operator's page gives them.
	Operands   map[string]tensor `json:"operands"`
	Attributes attributes        `json:"attributes"`
	Variant    string            `json:"variant"` // such as indices=offset,params=offset
}

// A reply has one of its last three fields. Functions that check a call return one where they refuse it, else nil.
type reply struct {
	Seq         uint64     `json:"seq"`
	Output      *output    `json:"output,omitempty"`
	Error       *callError `json:"error,omitempty"`
	Unsupported string     `json:"unsupported,omitempty"`
}

type output struct {
	Dtype string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	Data  any     `json:"data"` // []byte, which becomes base64, or the []string of a string tensor
}

type callError struct {
	Message   string   `json:"message"`
	Code      string   `json:"code,omitempty"`
	Bytes     *big.Int `json:"bytes,omitempty"`
	*badIndex          // with index-out-of-range
}

type badIndex struct {
	Position  []int64 `json:"position"`
	Component *int    `json:"component,omitempty"`
	Index     int64   `json:"index"`
	Bound     int64   `json:"bound"`
}

// wrong says that the call is an error.
func wrong(code, format string, args ...any) *reply {
	return &reply{Error: &callError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// unsupported says that the call may be right, but that this backend does not do it.
func unsupported(format string, args ...any) *reply {
	return &reply{Unsupported: fmt.Sprintf(format, args...)}
}

type attributes map[string]any

func (a attributes) integer(name string, preset int64) int64 {
	if number, given := a[name].(json.Number); given {
		value, _ := number.Int64() // the protocol has none that do not fit
		return value
	}
	return preset
}

// ---- Tensors

type tensor struct {
	Dtype  string          `json:"dtype"`
	Shape  []int64         `json:"shape"`
	Data   json.RawMessage `json:"data"` // decoded once the dtype is known to be right
	File   string          `json:"file"`
	Offset int64           `json:"offset"`
	texts  []string        // the elements of strings
	bytes  []byte          // the elements of any other dtype
}

// load gets the elements into memory. The texts of strings stay in base64, since they are only moved.
func (t *tensor) load() error {
	switch {
	case t.Dtype == "string":
		return json.Unmarshal(t.Data, &t.texts)
	case t.File == "":
		return json.Unmarshal(t.Data, &t.bytes) // from base64
	}
	file, err := os.Open(t.File)
	if err != nil {
		return err
	}
	defer file.Close()
	t.bytes = make([]byte, count(t.Shape)*elementBytes[t.Dtype])
	_, err = file.ReadAt(t.bytes, t.Offset)
	return err
}

// inWindow moves the elements to a window in a larger buffer.
func (t *tensor) inWindow() {
	t.bytes = window(t.bytes)
	t.texts = window(t.texts)
}

func window[T byte | string](items []T) []T {
	const margin = 32
	whole := make([]T, margin+len(items)+margin)
	copy(whole[margin:], items)
	return whole[margin : margin+len(items)]
}

// count is the product of some dims. It overflows only beside a dim of 0, which makes it 0 all the same.
func count(dims []int64) int64 {
	total := int64(1)
	for _, dim := range dims {
		total *= dim
	}
	return total
}

// multiIndex is the multi-index of the element that is at the given place in row-major order.
func multiIndex(at int64, shape []int64) []int64 {
	position := make([]int64, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		position[i] = at % shape[i]
		at /= shape[i]
	}
	return position
}

// ---- Checking a call

// A plan says that rows of depth indices each select from the axes of params that start at axis. The rows form a
// tensor of shape rows, whose first b dims are the batch.
type plan struct {
	b, axis, depth int64
	rows           []int64
	components     bool // an error names the component of its row
}

// planGather checks in the order of the table of codes in PROTOCOL.md, and so does planGatherND.
func planGather(_ operator, P, I tensor, attrs attributes) (plan, *reply) {
	r, q := int64(len(P.Shape)), int64(len(I.Shape))
	b := attrs.integer("batch_dims", 0)
	if -q <= b && b < 0 {
		b += q
	}
	axis := attrs.integer("axis", b)
	if -r <= axis && axis < 0 {
		axis += r
	}
	switch {
	case r == 0:
		return plan{}, wrong("params-rank", "params is a scalar")
	case b < 0 || b > q:
		return plan{}, wrong("batch-dims-out-of-range", "batch_dims %d is not in [%d, %d]", b, -q, q)
	case axis < 0 || axis >= r:
		return plan{}, wrong("axis-out-of-range", "axis %d is not in [%d, %d)", axis, -r, r)
	case axis < b:
		return plan{}, wrong("axis-before-batch", "axis %d is less than batch_dims %d", axis, b)
	case !sameBatch(P, I, b):
		return plan{}, wrong("batch-shape-mismatch", "the first %d dims of %v and %v differ", b, P.Shape, I.Shape)
	}
	return plan{b, axis, 1, I.Shape, false}, nil
}

func planGatherND(op operator, P, I tensor, attrs attributes) (plan, *reply) {
	r, q := int64(len(P.Shape)), int64(len(I.Shape))
	b := attrs.integer("batch_dims", 0)
	switch {
	case q < op.leastIndices:
		return plan{}, wrong("indices-rank", "indices has %d axes, but needs %d or more", q, op.leastIndices)
	case b < 0 || b >= q || b > r:
		return plan{}, wrong("batch-dims-out-of-range", "batch_dims %d is negative, not below %d, or above %d", b, q, r)
	case !sameBatch(P, I, b):
		return plan{}, wrong("batch-shape-mismatch", "the first %d dims of %v and %v differ", b, P.Shape, I.Shape)
	}
	k := I.Shape[q-1]
	if k > r-b { // b + k could overflow
		return plan{}, wrong("index-depth", "batch_dims %d and %d components exceed rank %d", b, k, r)
	}
	return plan{b, b, k, I.Shape[:q-1], true}, nil
}

func sameBatch(P, I tensor, b int64) bool {
	for i := int64(0); i < b; i++ {
		if P.Shape[i] != I.Shape[i] {
			return false
		}
	}
	return true
}

// checkOutput is for what can be said before any index is read.
func checkOutput(shape []int64, dtype string) *reply {
	bytes := big.NewInt(elementBytes[dtype])
	for _, dim := range shape {
		if dim > 0 {
			bytes.Mul(bytes, big.NewInt(dim))
		}
	}
	if !bytes.IsInt64() {
		refused := wrong("output-too-large", "the output has %v bytes", bytes)
		refused.Error.Bytes = bytes
		return refused
	}
	if len(shape) > mostAxes {
		return unsupported("an output of %d axes", len(shape))
	}
	if bytes.Int64() > outputLimit && count(shape) > 0 {
		return unsupported("an output of %v bytes", bytes)
	}
	return nil
}

// ---- Gathering

func gather(op operator, P, I tensor, attrs attributes) *reply {
	p, refused := op.plan(op, P, I, attrs)
	if refused != nil {
		return refused
	}
	shape := append([]int64{}, P.Shape[:p.axis]...)
	shape = append(shape, p.rows[p.b:]...)
	shape = append(shape, P.Shape[p.axis+p.depth:]...)
	if refused := checkOutput(shape, P.Dtype); refused != nil {
		return refused
	}
	places, refused := rowPlaces(P, I, p)
	if refused != nil {
		return refused
	}

	inner := count(P.Shape[p.axis+p.depth:])
	var starts []int64
	if count(shape) > 0 { // the dims of an empty output can be as large as 2^63 - 1: do not loop over them
		starts = sliceStarts(P, p, places, inner)
	}
	out := &output{Dtype: P.Dtype, Shape: shape}
	if P.Dtype == "string" {
		out.Data = copySlices(P.texts, starts, inner, 1)
	} else {
		out.Data = copySlices(P.bytes, starts, inner, elementBytes[P.Dtype])
	}
	return &reply{Output: out}
}

// rowPlaces gives the place that each row of indices selects, counted in row-major order over the indexed axes.
func rowPlaces(P, I tensor, p plan) (places []int64, refused *reply) {
	indices := I.bytes
	for row := int64(0); len(indices) > 0; row++ {
		place := int64(0)
		for component, bound := range P.Shape[p.axis : p.axis+p.depth] {
			var index int64
			index, indices = nextIndex(indices, I.Dtype)
			if index < 0 || index >= bound {
				refused := wrong("index-out-of-range", "row %d has index %d, out of range [0, %d)", row, index, bound)
				bad := &badIndex{Position: multiIndex(row, p.rows), Index: index, Bound: bound}
				if p.components {
					bad.Component = &component
				}
				refused.Error.badIndex = bad
				return nil, refused
			}
			place = place*bound + index
		}
		places = append(places, place)
	}
	return places, nil
}

// nextIndex reads the first of some indices, and gives the rest.
func nextIndex(indices []byte, dtype string) (int64, []byte) {
	switch dtype {
	case "i16":
		return int64(int16(binary.LittleEndian.Uint16(indices))), indices[2:]
	case "i32":
		return int64(int32(binary.LittleEndian.Uint32(indices))), indices[4:]
	default:
		return int64(binary.LittleEndian.Uint64(indices)), indices[8:]
	}
}

// sliceStarts gives where in params each slice of the output starts, in elements and in the order of the output.
func sliceStarts(P tensor, p plan, places []int64, inner int64) (starts []int64) {
	batches, mids := count(P.Shape[:p.b]), count(P.Shape[p.b:p.axis])
	span := count(P.Shape[p.axis : p.axis+p.depth])
	rows := count(p.rows[p.b:])
	for batch := int64(0); batch < batches; batch++ {
		for mid := int64(0); mid < mids; mid++ {
			for row := int64(0); row < rows; row++ {
				place := int64(0) // a row without components selects all that there is
				if p.depth > 0 {
					place = places[batch*rows+row]
				}
				starts = append(starts, ((batch*mids+mid)*span+place)*inner)
			}
		}
	}
	return starts
}

// copySlices copies inner elements from each start. An element takes size items of params.
func copySlices[T byte | string](params []T, starts []int64, inner, size int64) []T {
	out := make([]T, 0, int64(len(starts))*inner*size)
	for _, start := range starts {
		out = append(out, params[start*size:(start+inner)*size]...)
	}
	return out
}

// ---- Calls

func contains(list []string, name string) bool {
	for _, item := range list {
		if item == name {
			return true
		}
	}
	return false
}

func call(m message) *reply {
	op, known := operators[m.Operator]
	if !known {
		return unsupported("there is no operator %s", m.Operator)
	}
	for name := range m.Attributes {
		if !contains(op.attributes, name) {
			return unsupported("%s has no attribute %s", m.Operator, name)
		}
	}
	for _, value := range strings.Split(m.Variant, ",") {
		if m.Variant != "" && !strings.HasSuffix(value, "=offset") {
			return unsupported("there is no variant %s", value)
		}
	}
	P, I := m.Operands[op.operands[0]], m.Operands[op.operands[1]]
	if !contains(op.Dtypes, P.Dtype) {
		return wrong("params-dtype", "%s cannot be %s", op.operands[0], P.Dtype)
	}
	if !contains(op.IndexDtypes, I.Dtype) {
		return wrong("index-dtype", "%s cannot be %s", op.operands[1], I.Dtype)
	}
	for at, operand := range []*tensor{&P, &I} {
		if err := operand.load(); err != nil {
			return wrong("", "%v", err)
		}
		if strings.Contains(m.Variant, op.operands[at]+"=offset") {
			operand.inWindow()
		}
	}
	return gather(op, P, I, m.Attributes)
}

// answerCall gives the reply to a call, whatever happens: a panic must not end the process.
func answerCall(m message) (r *reply) {
	defer func() {
		if failure := recover(); failure != nil {
			log.Printf("panic: %v", failure) // standard error is shown with the verdict
			r = wrong("", "panic: %v", failure)
		}
		r.Seq = m.Seq
	}()
	return call(m)
}

func answer(m message) any {
	switch m.Cmd {
	case "start":
		about := map[string]string{"name": "example-go", "version": "1", "language": "Go"}
		return map[string]any{"protocol": 2, "backend": about, "operators": operators}
	case "call":
		return answerCall(m)
	default:
		return &reply{Seq: m.Seq, Unsupported: m.Cmd + " is not supported"}
	}
}

func main() {
	messages := json.NewDecoder(os.Stdin) // reads lines of any length
	messages.UseNumber()                  // attributes can exceed 2^53
	replies := json.NewEncoder(os.Stdout) // writes each line at once: there is nothing to flush
	for {
		var m message
		err := messages.Decode(&m)
		if err == io.EOF || m.Cmd == "stop" {
			return
		}
		if err == nil {
			err = replies.Encode(answer(m))
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
