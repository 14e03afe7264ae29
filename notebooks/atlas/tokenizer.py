"""The bundled models' tokenizer: byte-level pairs, learnt mainly on each fact once."""

from collections.abc import Iterable

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

BOS, EOS, PAD = "<|bos|>", "<|eos|>", "<|pad|>"


def learn_byte_level_tokenizer(
    texts: Iterable[str], vocabulary: int = 4096
) -> PreTrainedTokenizerFast:
    """Learn a byte-level BPE that adds its BOS once, by itself."""
    tokenizer = Tokenizer(models.BPE())
    # A word that begins a line gets the same token as after a space.
    tokenizer.normalizer = normalizers.Replace(Regex(r"\n(?=\S)"), "\n ")
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.ByteLevel(),
            decoders.Replace("\n ", "\n"),
            decoders.Replace(f"{BOS} ", BOS),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BOS, EOS, PAD],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    missing = vocabulary - tokenizer.get_vocab_size()
    tokenizer.add_special_tokens([f"<|unused{i}|>" for i in range(missing)])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=2048,
        padding_side="right",
    )
